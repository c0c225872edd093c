package expect

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// printWidth is how wide notes are.
const printWidth = 100

// Print writes the verdicts for a person: a line an expectation, then what
// disagrees or could not be judged, with why, then the counts.
func Print(w io.Writer, rows []Row) error {
	out := bufio.NewWriter(w)
	lines := [][4]string{{"expectation", "expected", "ours", "verdict"}}
	var widths [4]int
	for _, r := range rows {
		lines = append(lines, [4]string{r.Name, clip(r.Relation, 34), clip(r.ours(), 30), r.Verdict})
	}
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			text += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		fmt.Fprintln(out, strings.TrimRight(text, " "))
	}
	fmt.Fprintln(out)
	for _, r := range rows {
		if r.Verdict != string(Agrees) {
			wrap(out, r.Name+": "+r.why())
		}
	}
	fmt.Fprintln(out, Count(rows))
	return out.Flush()
}

// ours prints the value with its interval.
func (r *Row) ours() string {
	switch {
	case r.Ours == nil:
		return r.Found
	case r.Lo == nil || r.Hi == nil:
		return short(*r.Ours)
	}
	return fmt.Sprintf("%s [%s, %s]", short(*r.Ours), short(*r.Lo), short(*r.Hi))
}

// why explains a verdict that is not agrees.
func (r *Row) why() string {
	var parts []string
	for _, part := range []string{r.Note, r.Found} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if r.Verdict == string(Differs) {
		published := r.Published
		if r.PublishedValue != nil {
			published += " has " + short(*r.PublishedValue)
		}
		parts = append(parts, published, "expected "+r.Relation+": "+r.Reason)
	}
	return strings.Join(parts, "; ")
}

// Tally counts verdicts.
type Tally struct{ Agree, Differ, Unclear int }

// Count counts the verdicts of rows.
func Count(rows []Row) (t Tally) {
	for _, r := range rows {
		switch Verdict(r.Verdict) {
		case Agrees:
			t.Agree++
		case Differs:
			t.Differ++
		default:
			t.Unclear++
		}
	}
	return t
}

// Add adds the counts of another experiment.
func (t *Tally) Add(o Tally) {
	t.Agree, t.Differ, t.Unclear = t.Agree+o.Agree, t.Differ+o.Differ, t.Unclear+o.Unclear
}

// String prints "12 agree, 1 differs, 2 cannot be judged".
func (t Tally) String() string {
	verb := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	return fmt.Sprintf("%s, %s, %d cannot be judged", verb(t.Agree, "agrees", "agree"), verb(t.Differ, "differs", "differ"), t.Unclear)
}

func clip(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-3]) + "..."
}

// wrap writes a paragraph whose further lines are indented.
func wrap(w io.Writer, text string) {
	line, indent := "", ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(indent+line)+1+utf8.RuneCountInString(word) > printWidth {
			fmt.Fprintln(w, indent+line)
			line, indent = word, "  "
			continue
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	fmt.Fprintln(w, indent+line)
}
