package endpoint

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Extractor finds the answer in what a model says.
type Extractor struct {
	Name, Summary string
	find          func(text string) (answer string, ok bool)
}

// Extractors lists the extractors by name.
func Extractors() []Extractor {
	return []Extractor{
		{"parentheses", "what the last pair of parentheses holds, as LLMSelector's merge of a debate reads it", inParentheses},
		{"final", `what follows the last "final answer:" on its line`, behind("final answer:")},
		{"answer-is", `what follows the last "the answer is" on its line`, behind("the answer is")},
		{"number", "the last number", lastNumber},
		{"letter", "the last letter A to Z that stands alone, in parentheses or not", lastLetter},
		{"whole", "all of the text", func(text string) (string, bool) { return strings.TrimSpace(text), true }},
	}
}

// findExtractor returns the extractor of that name, which is one of the table.
func findExtractor(name string) Extractor {
	all := Extractors()
	return all[slices.IndexFunc(all, func(e Extractor) bool { return e.Name == name })]
}

// Find returns the answer in a text, the whole text where it finds none.
func (e Extractor) Find(text string) string {
	if answer, ok := e.find(text); ok {
		return answer
	}
	return strings.TrimSpace(text)
}

var parenthesised = regexp.MustCompile(`\(([^()]*)\)`)

func inParentheses(text string) (string, bool) {
	all := parenthesised.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return "", false
	}
	return strings.TrimSpace(all[len(all)-1][1]), true
}

// behind finds what follows the last occurrence of a phrase, whatever its case,
// to the end of the line, without a colon before and a full stop behind it.
func behind(phrase string) func(string) (string, bool) {
	last := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(phrase))
	return func(text string) (string, bool) {
		all := last.FindAllStringIndex(text, -1)
		if len(all) == 0 {
			return "", false
		}
		line, _, _ := strings.Cut(strings.TrimLeft(text[all[len(all)-1][1]:], ": \t\n"), "\n")
		return strings.TrimSuffix(strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "*`")), "."), true
	}
}

var numeral = regexp.MustCompile(`[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`)

func lastNumber(text string) (string, bool) {
	all := numeral.FindAllString(text, -1)
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

var lonelyLetter = regexp.MustCompile(`(?:^|[^A-Za-z0-9'])([A-Z])(?:[^A-Za-z0-9']|$)`)

func lastLetter(text string) (string, bool) {
	at, found := 0, ""
	for {
		m := lonelyLetter.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return found, found != ""
		}
		found = text[at+m[2] : at+m[3]]
		at += m[3]
	}
}

// numberIn reads the first number of a text.
func numberIn(text string) (float64, bool) {
	found := numeral.FindString(text)
	if found == "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(found, ",", ""), 64)
	return x, err == nil && !math.IsInf(x, 0)
}

// normal keeps lower-case letters, digits and + - * /.
func normal(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+-*/", r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// ballot is an answer as a vote compares it: numbers by value, all else
// normalised.
func ballot(answer string) string {
	whole := strings.ReplaceAll(strings.TrimSpace(answer), ",", "")
	if x, err := strconv.ParseFloat(whole, 64); err == nil {
		return strconv.FormatFloat(x, 'g', 10, 64)
	}
	return normal(answer)
}

// vote returns the place of the most frequent answer, of equals the first seen.
func vote(answers []string) int {
	counts := map[string]int{}
	best := 0
	for _, a := range answers {
		counts[ballot(a)]++
	}
	for i, a := range answers {
		if counts[ballot(a)] > counts[ballot(answers[best])] {
			best = i
		}
	}
	return best
}
