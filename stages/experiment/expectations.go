package experiment

import "regexp"

// expectationsKey is the section that crosses nothing: what its parts say is
// checked when the results are there.
const expectationsKey = "expectations"

// Expectation is a part of section expectations: what a result of the
// experiment should be. Package stages/expect decodes and checks it.
type Expectation struct {
	Name    string
	Section Section
}

// expectationName has no dot, so that paths of overrides can name a part.
var expectationName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,99}$`)

// readExpectations takes the section as it stands: a mapping by name.
func (e *Experiment) readExpectations(root *node) (errs []error) {
	n := root.get(expectationsKey)
	if n == nil {
		return nil
	}
	if n.kind != mapping || len(n.entries) == 0 || n.isForm() {
		return []error{n.wrong("a mapping of expectations by name: {hits: {published: ..., sql: ..., relation: ...}}")}
	}
	e.expectations = n
	for _, en := range n.entries {
		switch {
		case !expectationName.MatchString(en.key):
			err := n.unknown(en, nil)
			err.Problem, err.Expected = "not a name", "a name of a-z, 0-9, _ - that begins with a letter or a digit, at most 100 characters"
			errs = append(errs, err)
		case en.value.kind != mapping || en.value.isForm():
			errs = append(errs, en.value.wrong("an expectation: a mapping with published, sql, relation and reason"))
		default:
			c, wrong := onlyChoice(en.value, func(string) bool { return false })
			errs = append(errs, wrong...)
			e.Expectations = append(e.Expectations, Expectation{en.key, Section{choice: c, doc: e.doc}})
		}
	}
	return errs
}
