package experiment

import (
	"slices"
	"strings"

	"switchyard/sim/param"
)

// With returns the point with a number under a dotted key of one of its parts,
// in place of what the file has there, for stages that vary a value by rules of
// their own, such as a bisection. The number is of the whole cluster, also
// where the file has one a replica.
func (p Point) With(part, key string, value float64) Point {
	p.Parts = slices.Clone(p.Parts)
	for i := range p.Parts {
		if p.Parts[i].Part == part {
			p.Parts[i].Section = p.Parts[i].Section.with(key, value)
		}
	}
	return p
}

func (s Section) with(key string, value float64) Section {
	var source *node
	if s.choice == nil {
		s = Section{choice: &choice{source: &node{kind: mapping}}, doc: new(document)}
	}
	if found := s.choice.find(key); found != nil {
		source = found.node()
	} else {
		source = s.choice.source
	}
	raw := param.Format(value)
	n := &node{value: value, raw: raw, at: source.at, path: source.path}
	return Section{choice: s.choice.with(key, n), doc: s.doc}
}

// with returns a copy in which n stands under a dotted key; what is not on the
// way there is shared.
func (c *choice) with(key string, n *node) *choice {
	out := &choice{source: c.source, entries: slices.Clone(c.entries)}
	head, rest, deeper := strings.Cut(key, ".")
	at := slices.IndexFunc(out.entries, func(e chosen) bool { return e.key == head })
	if at < 0 {
		at = len(out.entries)
		out.entries = append(out.entries, chosen{key: head})
	}
	if !deeper {
		out.entries[at] = chosen{key: head, value: n}
		return out
	}
	below := out.entries[at].below
	if below == nil {
		below = &choice{source: &node{kind: mapping, at: n.at, path: n.path}}
	}
	out.entries[at] = chosen{key: head, below: below.with(rest, n)}
	return out
}
