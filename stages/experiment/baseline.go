package experiment

import (
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/param"
)

// mostBaselines is how many swept values of a baseline a message lists.
const mostBaselines = 5

// competitors are what a baseline may name: variants, and points of those with
// swept values.
type competitors struct {
	things []string            // what they are: router, policy
	names  []string            // of variants
	points map[string][]string // of each variant that is several things in one place: their labels
	labels []string            // of all such points
}

// competing collects them. A variant's name is no baseline by itself where the
// same workload and cluster meet it with several values.
func (e *Experiment) competing() *competitors {
	c := &competitors{points: map[string][]string{}}
	for _, p := range e.parts {
		if !p.compete {
			continue
		}
		c.things = append(c.things, p.part)
		for _, item := range p.variants.items {
			if name := item.get("name"); name != nil && name.raw != "" {
				c.names = append(c.names, name.raw)
			}
		}
	}
	for _, job := range e.Jobs() {
		c.split(e.Points[job])
	}
	return c
}

// split finds the labels of one job's variants, and those that share a place.
func (c *competitors) split(points []Point) {
	at := slices.IndexFunc(points[0].Parts, func(in Instance) bool { return slices.Contains(c.things, in.Part) })
	if at < 0 {
		return
	}
	part := points[0].Parts[at].Part
	type meeting struct{ place, name string }
	met := map[meeting]string{}
	labels := map[string][]string{}
	several := map[string]bool{}
	seen := map[string]bool{}
	for _, p := range points {
		name, label := p.Parts[at].Name, p.LabelOf(part)
		if label == name {
			continue
		}
		if !seen[label] {
			seen[label] = true
			labels[name] = append(labels[name], label)
			c.labels = append(c.labels, label)
		}
		var place strings.Builder
		for i, in := range p.Parts {
			if i != at {
				place.WriteString(p.LabelOf(in.Part) + "\n")
			}
		}
		m := meeting{place.String(), name}
		if other, ok := met[m]; ok && other != label {
			several[name] = true
		}
		met[m] = label
	}
	for name := range several {
		c.points[name] = append(c.points[name], labels[name]...)
	}
}

// article is the one that a word takes.
func article(word string) string {
	if strings.ContainsRune("aeio", rune(word[0])) {
		return "an "
	}
	return "a "
}

// checkBaseline makes the baseline one that every point can be compared with,
// before anything runs: the first competitor where the file names none.
func (e *Experiment) checkBaseline(root *node) []error {
	c := e.competing()
	given := root.get("baseline")
	if len(c.names) == 0 {
		return nil
	}
	if given == nil {
		e.Baseline = c.names[0]
		if of := c.points[e.Baseline]; of != nil {
			e.Baseline = of[0]
		}
		return nil
	}
	text, ok := given.value.(string)
	variant, _, _ := strings.Cut(text, " ")
	switch {
	case !ok || slices.Contains(c.labels, text):
		return nil
	case e.Points == nil && slices.Contains(c.names, variant):
		return nil // what it sweeps over is unknown till the rest is right
	case !slices.Contains(c.names, text):
		expected := "the name of " + article(c.things[0]) + strings.Join(c.things, " or ") + ": " + strings.Join(c.names, ", ")
		if len(c.labels) > 0 {
			expected += fmt.Sprintf("; or one with its swept values, such as %q", c.labels[0])
		}
		err := given.wrong(expected)
		err.Nearest = param.Nearest(text, append(c.names, c.labels...))
		return []error{err}
	}
	of := c.points[text]
	if of == nil {
		return nil
	}
	quoted := make([]string, 0, mostBaselines)
	for _, label := range of[:min(len(of), mostBaselines)] {
		quoted = append(quoted, fmt.Sprintf("%q", label))
	}
	expected := fmt.Sprintf("one of the %d that it sweeps over: %s", len(of), strings.Join(quoted, ", "))
	if len(of) > mostBaselines {
		expected += " and so on"
	}
	return []error{given.wrong(expected)}
}
