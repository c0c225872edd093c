package experiment

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"switchyard/sim/param"
)

// gap is a key that a mapping lacks and a decoder filled in: with a value, or
// with an absent mapping. One without a key only counts a decoding.
type gap struct {
	source *node
	key    string
	value  any
	below  *node
}

// defaults is what decoders filled into one mapping.
type defaults struct {
	decoded int
	order   []string
	gaps    map[string]*filledGap
}

type filledGap struct {
	gap
	times  int
	varies bool
}

// remember keeps the gaps of a decoding that succeeded.
func (d *decoder) remember() {
	d.doc.mu.Lock()
	defer d.doc.mu.Unlock()
	if d.doc.filled == nil {
		d.doc.filled = map[*node]*defaults{}
	}
	for _, g := range d.gaps {
		f := d.doc.filled[g.source]
		if f == nil {
			f = &defaults{gaps: map[string]*filledGap{}}
			d.doc.filled[g.source] = f
		}
		if g.key == "" {
			f.decoded++
			continue
		}
		known := f.gaps[g.key]
		if known == nil {
			known = &filledGap{gap: g}
			f.gaps[g.key] = known
			f.order = append(f.order, g.key)
		}
		known.times++
		known.varies = known.varies || !reflect.DeepEqual(known.gap, g)
	}
}

// complete returns a copy of a tree with the defaults written out: those that
// every decoding of a mapping filled in alike, so that a default of one swept
// policy is not put before another, which does not know it.
func (doc *document) complete(n *node) *node {
	out := *n
	out.items = make([]*node, len(n.items))
	for i, item := range n.items {
		out.items[i] = doc.complete(item)
	}
	out.entries = make([]entry, len(n.entries))
	for i, e := range n.entries {
		out.entries[i] = entry{key: e.key, value: doc.complete(e.value)}
	}
	f := doc.filled[n]
	if f == nil {
		return &out
	}
	for _, key := range f.order {
		g := f.gaps[key]
		if g.varies || g.times != f.decoded {
			continue
		}
		value := valueNode(g.value)
		if g.below != nil {
			if value = doc.complete(g.below); len(value.entries) == 0 {
				continue
			}
		}
		out.entries = append(out.entries, entry{key: key, value: value})
	}
	return &out
}

func valueNode(value any) *node {
	items, ok := value.([]any)
	if !ok {
		return &node{value: value}
	}
	out := &node{kind: list}
	for _, item := range items {
		out.items = append(out.items, valueNode(item))
	}
	return out
}

// Resolved returns the experiment as YAML, overrides applied and defaults
// written out, with its axes, variants and paths as they are. It loads to the same
// grid and the same parameters. Defaults of sections appear as far as the
// sections have been decoded: decode all points first.
func (e *Experiment) Resolved() []byte {
	var b strings.Builder
	writeMapping(&b, e.resolved(), "")
	return []byte(b.String())
}

func (e *Experiment) resolved() *node {
	e.doc.mu.Lock()
	defer e.doc.mu.Unlock()
	root := &node{kind: mapping}
	add := func(key string, value *node) { root.entries = append(root.entries, entry{key: key, value: value}) }
	add("name", valueNode(e.Name))
	add("seed", valueNode(e.Seed))
	add("replications", &node{raw: printReplications(e.Replications)})
	add("warm_up", valueNode(e.WarmUp))
	if e.Baseline != "" {
		add("baseline", valueNode(e.Baseline))
	}
	if e.Has(Simulate) {
		add("slo", structNode(&e.SLO))
		add("tables", structNode(&e.Tables))
	}
	for _, p := range e.parts {
		add(p.key, e.doc.complete(p.variants))
	}
	if e.expectations != nil {
		add(expectationsKey, e.expectations)
	}
	return root
}

func structNode(ptr any) *node {
	out := &node{kind: mapping}
	for _, f := range param.Fields(ptr) {
		out.entries = append(out.entries, entry{key: f.Name, value: valueNode(param.Get(ptr, f.Name))})
	}
	return out
}

// flowWidth is the longest value that stands on one line.
const flowWidth = 100

func writeMapping(b *strings.Builder, n *node, indent string) {
	for i, e := range n.entries {
		if i > 0 {
			b.WriteString(indent)
		}
		b.WriteString(quote(e.key) + ":")
		writeValue(b, e.value, indent)
	}
}

// writeValue writes a value behind its key or dash, and ends the line.
func writeValue(b *strings.Builder, n *node, indent string) {
	inside := indent + "  "
	switch line := flow(n); {
	case n.kind == list && (n.maps() || len(line) > flowWidth):
		b.WriteString("\n")
		for _, item := range n.items {
			b.WriteString(inside + "-")
			if item.kind == mapping && len(item.entries) > 0 {
				b.WriteString(" ")
				writeMapping(b, item, inside+"  ")
			} else {
				writeValue(b, item, inside)
			}
		}
	case n.kind == mapping && len(n.entries) > 0 && (!n.isForm() || len(line) > flowWidth):
		b.WriteString("\n" + inside)
		writeMapping(b, n, inside)
	default:
		b.WriteString(" " + line + "\n")
	}
}

// flow returns a value on one line.
func flow(n *node) string {
	var parts []string
	switch n.kind {
	case list:
		for _, item := range n.items {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		for _, e := range n.entries {
			parts = append(parts, quote(e.key)+": "+flow(e.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if text, ok := n.value.(string); ok {
		return quote(text)
	}
	if n.value == nil && n.raw != "" {
		return n.raw // replications, printed already
	}
	return param.Format(n.value)
}

var bareText = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)

// quote writes text so that it reads back as the same text.
func quote(text string) string {
	if _, isText := resolve(text).(string); isText && bareText.MatchString(text) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
