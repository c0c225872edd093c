package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// shape is a value of a made-up experiment: scalar, sweep, mapping or variants.
type shape struct {
	scalar string
	sweep  []string
	zip    string
	keys   []string
	below  []*shape // of keys; of a list of variants, mappings
	named  []string // names of variants
}

// maker makes experiments at random. Its axes are kept in document order.
type maker struct {
	r    *rand.Rand
	zips map[string]int // lengths
	axes []*shape
}

func (m *maker) mapping(depth int) *shape {
	s := &shape{}
	for i := range 1 + m.r.IntN(3) {
		s.keys = append(s.keys, fmt.Sprintf("k%d", i))
		s.below = append(s.below, m.value(depth))
	}
	return s
}

func (m *maker) value(depth int) *shape {
	switch pick := m.r.IntN(8); {
	case depth < 2 && pick == 0:
		return m.variants(1+m.r.IntN(2), depth+1)
	case depth < 2 && pick == 1:
		return m.mapping(depth + 1)
	case pick <= 3:
		return m.sweep()
	}
	return &shape{scalar: fmt.Sprint(m.r.IntN(100))}
}

func (m *maker) sweep() *shape {
	s := &shape{}
	n := 1 + m.r.IntN(3)
	if m.r.IntN(3) == 0 {
		s.zip = []string{"y", "z"}[m.r.IntN(2)]
		if m.zips[s.zip] == 0 {
			m.zips[s.zip] = n
		}
		n = m.zips[s.zip]
	}
	for i := range n {
		s.sweep = append(s.sweep, fmt.Sprintf("v%d", i))
	}
	m.axes = append(m.axes, s)
	return s
}

func (m *maker) variants(n, depth int) *shape {
	s := &shape{}
	m.axes = append(m.axes, s)
	for i := range n {
		s.named = append(s.named, fmt.Sprintf("n%d", i))
		s.below = append(s.below, m.mapping(depth))
	}
	return s
}

// yaml writes a shape in flow style.
func (s *shape) yaml() string {
	var parts []string
	switch {
	case s.sweep != nil && s.zip != "":
		return "{zip: " + s.zip + ", sweep: [" + strings.Join(s.sweep, ", ") + "]}"
	case s.sweep != nil:
		return "{sweep: [" + strings.Join(s.sweep, ", ") + "]}"
	case s.named != nil:
		for i, name := range s.named {
			parts = append(parts, "{name: "+name+", "+s.below[i].yaml()[1:])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case s.keys != nil:
		for i, key := range s.keys {
			parts = append(parts, key+": "+s.below[i].yaml())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return s.scalar
}

// naive resolves a shape under one assignment of indexes to all axes, chosen or
// not, and notes the indexes of the axes that it meets, a zip's once.
type naive struct {
	index map[any]int // by axis, or by zip
	met   map[string]bool
	order []int
	out   []string
}

func (n *naive) resolve(s *shape, path string) {
	switch {
	case s.sweep != nil:
		var axis any = s
		if s.zip != "" {
			axis = s.zip
		}
		if s.zip == "" || !n.met[s.zip] {
			n.order = append(n.order, n.index[axis])
		}
		n.met[s.zip] = true
		n.out = append(n.out, path+"="+s.sweep[n.index[axis]])
	case s.named != nil:
		i := n.index[s]
		n.order = append(n.order, i)
		n.out = append(n.out, path+" "+s.named[i])
		n.resolve(s.below[i], path)
	case s.keys != nil:
		for i, key := range s.keys {
			n.resolve(s.below[i], path+"."+key)
		}
	default:
		n.out = append(n.out, path+"="+s.scalar)
	}
}

// expandNaively counts through all assignments of all axes, keeps each
// configuration once, and sorts by the indexes that were met.
func expandNaively(m *maker, parts []*shape, paths []string) ([]string, bool) {
	var axes []any
	sizes := map[any]int{}
	total := 1
	for _, a := range m.axes {
		var axis any = a
		if a.zip != "" {
			axis = a.zip
		}
		if sizes[axis] == 0 {
			axes = append(axes, axis)
			sizes[axis] = max(len(a.sweep), len(a.named))
			total *= sizes[axis]
		}
		if total > 5000 {
			return nil, false
		}
	}
	found := map[string][]int{}
	for k := range total {
		n := &naive{index: map[any]int{}, met: map[string]bool{}}
		for _, axis := range axes {
			n.index[axis] = k % sizes[axis]
			k /= sizes[axis]
		}
		for i, p := range parts {
			n.resolve(p, paths[i])
		}
		found[strings.Join(n.out, "\n")] = n.order
	}
	var out []string
	for text := range found {
		out = append(out, text)
	}
	sort.Slice(out, func(i, j int) bool { return slices.Compare(found[out[i]], found[out[j]]) < 0 })
	return out, true
}

// flatten prints a point as naive does.
func flatten(e *Experiment, p Point) string {
	var out []string
	var walk func(c *choice, path string)
	walk = func(c *choice, path string) {
		for _, en := range c.entries {
			switch at := path + "." + en.key; {
			case en.below == nil:
				out = append(out, at+"="+en.value.label())
			default:
				if name := en.below.source.get("name"); name != nil {
					out = append(out, at+" "+name.raw)
				}
				walk(en.below, at)
			}
		}
	}
	for _, part := range e.parts {
		in := p.Part(part.part)
		if in.Part == "" {
			continue // of another job
		}
		out = append(out, part.part+" "+in.Name)
		walk(in.Section.choice, part.part)
	}
	return strings.Join(out, "\n")
}

func TestGridAgainstNaiveExpansion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tried, zipped := 0, 0
	for tried < 400 {
		m := &maker{r: r, zips: map[string]int{}}
		names := []string{"workload", "cluster", "router"}
		r.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
		var parts []*shape
		text := "name: n\n"
		for _, name := range names {
			s := m.variants(1+r.IntN(2), 0)
			parts = append(parts, s)
			text += name + "s: " + s.yaml() + "\n"
		}
		want, ok := expandNaively(m, parts, names)
		if !ok {
			continue
		}
		tried++
		zipped += len(m.zips)
		e := load(t, text, Options{})
		var got []string
		for _, p := range e.Points[Simulate] {
			got = append(got, flatten(e, p))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s\ngives %d points, want %d:\n%s\n\nwant\n%s", text, len(got), len(want),
				strings.Join(got, "\n\n"), strings.Join(want, "\n\n"))
		}
		again := load(t, string(e.Resolved()), Options{})
		for i, p := range again.Points[Simulate] {
			if flatten(again, p) != got[i] || p.Label() != e.Points[Simulate][i].Label() {
				t.Fatalf("%s\nresolved is\n%s\npoint %d differs", text, e.Resolved(), i)
			}
		}
	}
	if zipped < 100 {
		t.Errorf("only %d zips were made", zipped)
	}
}

// TestZip shows what a zip does across sections, and where it varies.
func TestZip(t *testing.T) {
	e := load(t, `
workloads: [{name: w, rate: {sweep: [1, 2], zip: z}}, {name: x}]
clusters: [{name: a}, {name: b}]
routers: [{name: r, t: {sweep: [5, 5], zip: z}}]
`, Options{})
	want := []string{"w rate=1 / a / r t=5", "w rate=1 / b / r t=5", "w rate=2 / a / r t=5", "w rate=2 / b / r t=5",
		"x / a / r t=5", "x / a / r t=5", "x / b / r t=5", "x / b / r t=5"}
	if got := labels(e); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func BenchmarkLoad(b *testing.B) {
	text := []byte("name: n\nworkloads: [{name: w, generator: g" + axes(2, 10) + "}]\nclusters: [{name: c" + axes(1, 10) + "}]\nrouters: [a, b, c, d, e, f, g, h, i]\n")
	b.ReportAllocs()
	for b.Loop() {
		e, err := Load("x.yaml", text, Options{})
		if err != nil || len(e.Points[Simulate]) != 9000 {
			b.Fatal(err, len(e.Points[Simulate]))
		}
	}
}

// TestSize counts grids that can be made as those that are too large are.
func TestSize(t *testing.T) {
	for _, text := range []string{
		least, manual(t),
		"workloads: [{name: w, r: {sweep: [1, 2, 3], zip: z}, q: {sweep: [4, 5]}}]\n" +
			"clusters: [{name: c, n: {sweep: [1, 2, 3], zip: z}}, {name: d, e: [{name: x, n: {sweep: [1, 2, 3], zip: z}}, {name: y}]}]\n" +
			"routers: [random, {name: s, t: {sweep: [1, 2]}}]\n",
	} {
		e := load(t, text, Options{})
		c := &checker{forms: map[*node]*form{}, paths: map[*node]string{}, zips: map[string]*node{}}
		for _, p := range e.parts {
			c.variants(p.variants, p.part)
		}
		g := &grid{forms: c.forms, names: c.factors()}
		if got, want := g.size(e.parts), fmt.Sprint(len(e.Points[Simulate])); got != want {
			t.Errorf("%s\nis counted as %s configurations, has %s", text, got, want)
		}
	}
}
