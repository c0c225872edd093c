package endpoint

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Metric scores an answer against the reference, from 0 to 1.
type Metric struct {
	Name, Summary string
	Source        string
	Passes        string // what a vote in front of it passes on: text, or answer

	score func(text, gold string, e Extractor) float32
}

const (
	llmselector = "LLMSelector's released code (Chen et al., 2025, arXiv:2502.14815)"
	bbeh        = "BIG-Bench Extra Hard's evaluation (Kazemi et al., 2025, arXiv:2502.19187), as LLMSelector's released code follows it"
	ours        = "this house's"
)

// Metrics lists the metrics by name.
func Metrics() []Metric {
	return []Metric{
		{"em", `"the answer is" and the reference occur one behind the other, letters, digits and + - * / alone`, llmselector, "text",
			func(text, gold string, _ Extractor) float32 {
				return score(strings.Contains(normal(text), "theansweris"+normal(gold)))
			}},
		{"em_direct", "equal to the reference, letters, digits and + - * / alone", llmselector, "answer",
			func(text, gold string, _ Extractor) float32 { return score(normal(text) == normal(gold)) }},
		{"em_direct_contain", "contains the reference, letters, digits and + - * / alone", llmselector, "text",
			func(text, gold string, _ Extractor) float32 {
				return score(strings.Contains(normal(text), normal(gold)))
			}},
		{"contains", "contains the reference, whatever the case", ours, "text",
			func(text, gold string, _ Extractor) float32 {
				return score(strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(gold))))
			}},
		{"numeric_match", `the number behind the last "final answer:" is within 1e-5 of the reference; none there is wrong`, llmselector, "text", numericMatch},
		{"concept", "all concepts of the reference occur, which commas part", llmselector, "text",
			func(text, gold string, _ Extractor) float32 { return score(conceptShare(text, gold) == 1) }},
		{"concept_share", "share of the reference's concepts that occur", ours, "text",
			func(text, gold string, _ Extractor) float32 { return conceptShare(text, gold) }},
		{"mc", "the letter of the answer, in the last parentheses or else the last that stands alone, is the reference's", llmselector, "answer", multipleChoice},
		{"match_one", "as em_direct for one of the references, which | parts", llmselector, "answer",
			func(text, gold string, _ Extractor) float32 { return score(matchOne(text, gold)) }},
		{"extract_match_one", "as match_one of the answer that extract finds", llmselector, "answer",
			func(text, gold string, e Extractor) float32 { return score(matchOne(e.Find(text), gold)) }},
		{"fuzzy_match", "the answer that extract finds equals the reference but for case, quotes, brackets, a question mark, or the writing of a number", bbeh, "answer",
			func(text, gold string, e Extractor) float32 { return score(fuzzyMatch(e.Find(text), gold)) }},
	}
}

// findMetric returns the metric of that name, which is one of the table.
func findMetric(name string) Metric {
	all := Metrics()
	return all[slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })]
}

// Score scores an answer.
func (m Metric) Score(text, gold string, e Extractor) float32 { return m.score(text, gold, e) }

func score(right bool) float32 {
	if right {
		return 1
	}
	return 0
}

// tolerance is LLMSelector's.
const tolerance = 1e-5

func numericMatch(text, gold string, _ Extractor) float32 {
	said, ok := behind("final answer:")(text)
	if !ok {
		return 0
	}
	x, ok := numberIn(said)
	y, known := numberIn(gold)
	return score(ok && known && math.Abs(x-y) <= tolerance)
}

// conceptShare looks for each concept at the beginning of words, so that
// plurals and the like count.
func conceptShare(text, gold string) float32 {
	text = strings.ToLower(text)
	all, found := 0, 0
	for _, concept := range strings.Split(gold, ",") {
		concept = strings.ToLower(strings.TrimSpace(concept))
		if concept == "" {
			continue
		}
		all++
		if regexp.MustCompile(`(?:^|[^\pL\pN])` + regexp.QuoteMeta(concept)).MatchString(text) {
			found++
		}
	}
	if all == 0 {
		return 0
	}
	return float32(found) / float32(all)
}

func multipleChoice(text, gold string, _ Extractor) float32 {
	choice := func(text string) string {
		if inside, ok := inParentheses(text); ok && len(inside) == 1 {
			return strings.ToUpper(inside)
		}
		if only := strings.TrimSpace(text); len(only) == 1 {
			return strings.ToUpper(only)
		}
		letter, _ := lastLetter(text)
		return letter
	}
	want := choice(gold)
	return score(want != "" && choice(text) == want)
}

func matchOne(text, gold string) bool {
	for _, each := range strings.Split(gold, "|") {
		if n := normal(each); n != "" && normal(text) == n {
			return true
		}
	}
	return false
}

func fuzzyMatch(text, gold string) bool {
	a, b := strings.ToLower(strings.TrimSpace(text)), strings.ToLower(strings.TrimSpace(gold))
	letter := func(s string) string { // "(a)" is "a"
		if len(s) == 3 && s[0] == '(' && s[2] == ')' {
			return s[1:2]
		}
		return s
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	quotes := strings.NewReplacer("'", "", `"`, "")
	return a == b || letter(a) == letter(b) || errX == nil && errY == nil && x == y ||
		quotes.Replace(a) == quotes.Replace(b) || "["+a+"]" == b || a == "["+b+"]" || strings.TrimSuffix(a, "?") == b
}
