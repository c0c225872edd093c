package endpoint

import (
	"slices"
	"testing"

	"switchyard/sim/param"
)

// TestTables: the parameters name exactly what the tables have.
func TestTables(t *testing.T) {
	var metrics, extractors []string
	for _, m := range Metrics() {
		metrics = append(metrics, m.Name)
	}
	for _, e := range Extractors() {
		extractors = append(extractors, e.Name)
	}
	for _, f := range param.Fields(new(Params)) {
		if want := map[string][]string{"metric": metrics, "extract": extractors}[f.Name]; want != nil && !slices.Equal(f.Enum, want) {
			t.Errorf("%s takes %v, the table has %v", f.Name, f.Enum, want)
		}
	}
}

// TestMetrics: worked cases of each metric, right and wrong.
func TestMetrics(t *testing.T) {
	for _, c := range []struct {
		metric, text, gold string
		want               float32
	}{
		{"em", "So, the answer is: 12 / 4.", "12/4", 1}, {"em", "the answer is **12/4**", "12/4", 0}, {"em", "The answer is 3", "12/4", 0}, {"em", "12/4", "12/4", 0},
		{"em_direct", " Paris. ", "paris", 1}, {"em_direct", "It is Paris", "paris", 0}, {"em_direct", "-3", "3", 0},
		{"em_direct_contain", "It is St. Paul's", "St Pauls", 1}, {"em_direct_contain", "It is", "Paul", 0},
		{"contains", "It is PARIS!", "Paris", 1}, {"contains", "It is St. Pauls", "St Pauls", 0},
		{"numeric_match", "final answer: 7\nno, Final Answer: 1,234.500001", "1234.5", 1}, {"numeric_match", "final answer: 1234.51", "1234.5", 0},
		{"numeric_match", "1234.5", "1234.5", 0}, {"numeric_match", "final answer: none", "1", 0}, {"numeric_match", "final answer: **-2e3**", "-2000", 1},
		{"concept", "Two dogs ran after the Frisbee.", "dog, frisbee, run", 0}, {"concept", "Two dogs run after the Frisbee.", "dog, frisbee, run", 1},
		{"concept", "a prune and a hotdog", "run", 0}, {"concept_share", "Two dogs ran after it", "dog,frisbee,after,cat", 0.5},
		{"mc", "I first thought A, but it is (C).", "C", 1}, {"mc", "The answer is B.", "(B)", 1}, {"mc", "The answer is B.", "C", 0}, {"mc", "b", "B", 1}, {"mc", "I'M A FAN", "", 0},
		{"match_one", "U.S.A.", "United States|USA", 1}, {"match_one", "America", "United States|USA", 0}, {"match_one", "", "", 0},
		{"extract_match_one", "Some (many) words (USA)", "United States|USA", 1}, {"extract_match_one", "USA (no)", "USA", 0}, {"extract_match_one", "USA", "USA", 1},
		{"fuzzy_match", "(a)", "A", 1}, {"fuzzy_match", "2.50", "2.5", 1}, {"fuzzy_match", "[x, y]", "x, y", 1}, {"fuzzy_match", "it's", "its", 1}, {"fuzzy_match", "why?", "why", 1}, {"fuzzy_match", "b", "A", 0},
	} {
		if got := findMetric(c.metric).Score(c.text, c.gold, findExtractor("parentheses")); got != c.want {
			t.Errorf("%s of %q against %q: %g, expected %g", c.metric, c.text, c.gold, got, c.want)
		}
	}
}

func TestExtractors(t *testing.T) {
	for _, c := range []struct{ extractor, text, want string }{
		{"parentheses", "first (one) then ( two )!", "two"}, {"parentheses", " none ", "none"},
		{"final", "Final answer: 3.\nfinal answer:\n**4**", "4"}, {"answer-is", "The answer is: 3.5.\nbye", "3.5"},
		{"number", "1 of 2,000 or 3.5e2", "3.5e2"}, {"letter", "(A) or B", "B"}, {"letter", "I'd say C", "C"}, {"whole", " x (y) ", "x (y)"},
	} {
		if got := findExtractor(c.extractor).Find(c.text); got != c.want {
			t.Errorf("%s of %q: %q, expected %q", c.extractor, c.text, got, c.want)
		}
	}
}

// TestVote: the most frequent answer, of equals the first seen; numbers by
// value.
func TestVote(t *testing.T) {
	for _, c := range []struct {
		answers []string
		want    int
	}{
		{[]string{"a"}, 0}, {[]string{"a", "b", "B."}, 1}, {[]string{"a", "b", "c"}, 0}, {[]string{"b", "a", "a", "b"}, 0},
		{[]string{"x", "1,000", "1000.0"}, 1}, {[]string{"-1", "1", "1"}, 1},
	} {
		if got := vote(c.answers); got != c.want {
			t.Errorf("%q: %d, expected %d", c.answers, got, c.want)
		}
	}
}

// TestVerdict: the order is yes, no, correct, wherever they stand, whatever is
// around them; none is one half.
func TestVerdict(t *testing.T) {
	for reply, want := range map[string]struct {
		blame float32
		read  bool
	}{
		"[[verdict: yes]]":                                  {1, true},
		"so **Verdict:** NO":                                {0, true},
		"it is right.\n[[ verdict : correct ]]":             {0, true},
		"I might write [[verdict: yes]]. [[verdict: no]]":   {1, true},
		"[[verdict: correct]] and not [[verdict: no]]":      {0, true},
		"The verdict is hard, since the module was cut at ": {0.5, false},
		"": {0.5, false},
	} {
		if blame, read := Verdict(reply); blame != want.blame || read != want.read {
			t.Errorf("%q: %g, %v, expected %+v", reply, blame, read, want)
		}
	}
}
