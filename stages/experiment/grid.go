package experiment

import (
	"fmt"
	"slices"
	"strconv"
)

// maxPoints bounds the grid without its replications.
const maxPoints = 100_000

// choice is a mapping in which every axis has its value and every list of
// variants its variant.
type choice struct {
	source  *node // the mapping of the file
	entries []chosen
}

// chosen is one key of it: a value, or a mapping.
type chosen struct {
	key        string
	value      *node
	below      *choice
	perReplica *node // the flag
}

func (c *choice) get(key string) *chosen {
	for i := range c.entries {
		if c.entries[i].key == key {
			return &c.entries[i]
		}
	}
	return nil
}

// node returns what stands in the file.
func (c *chosen) node() *node {
	if c.below != nil {
		return c.below.source
	}
	return c.value
}

// grid expands the tree depth first, in the order of the file, so that what
// comes later varies faster. Each step hands its result to a continuation.
type grid struct {
	doc     *document
	forms   map[*node]*form
	names   map[*node]string // of factors
	zips    map[string]int   // chosen index of each zip
	factors []Factor
	part    string
	points  []Point

	// While a grid is only counted, an axis takes its first value alone and
	// multiplies the weight of what is met below it.
	counting       bool
	weight, weighs float64 // of the point that is being made, of all
	met            int     // points
}

// section expands the named variants of parts[0] and goes on with the rest.
// chosen is what the parts have so far, in the job's order.
func (g *grid) section(parts []part, chosen []Instance) {
	if len(parts) == 0 {
		if g.counting {
			g.met++
			g.weighs += g.weight
		} else if len(g.points) <= maxPoints {
			g.points = append(g.points, Point{Index: len(g.points), Parts: slices.Clone(chosen), Factors: slices.Clone(g.factors)})
		}
		return
	}
	p := parts[0]
	for _, item := range p.variants.items {
		g.part = p.part
		g.mapping(item, "name", func(c *choice) {
			chosen[p.index] = Instance{Part: p.part, Name: item.get("name").raw, Section: Section{choice: c, doc: g.doc}}
			g.section(parts[1:], chosen)
			g.part = p.part
		})
	}
}

// mapping expands all entries of n but the one called skip.
func (g *grid) mapping(n *node, skip string, then func(*choice)) {
	entries := make([]chosen, len(n.entries))
	var from func(i, filled int)
	from = func(i, filled int) {
		switch {
		case len(g.points) > maxPoints || g.met > maxPoints:
		case i == len(n.entries):
			then(&choice{source: n, entries: append([]chosen(nil), entries[:filled]...)})
		case n.entries[i].key == skip:
			from(i+1, filled)
		default:
			g.value(n.entries[i].value, func(c chosen) {
				c.key = n.entries[i].key
				entries[filled] = c
				from(i+1, filled+1)
			})
		}
	}
	from(0, 0)
}

func (g *grid) value(n *node, then func(chosen)) {
	f := g.forms[n]
	switch {
	case f != nil && !f.swept:
		then(chosen{value: f.values[0], perReplica: f.perReplica})
	case f != nil:
		g.sweep(n, f, then)
	case n.maps():
		for _, item := range n.items {
			g.mark(n, item.get("name").raw, func() {
				g.mapping(item, "name", func(c *choice) { then(chosen{below: c}) })
			})
		}
	case n.kind == mapping:
		g.mapping(n, "", func(c *choice) { then(chosen{below: c}) })
	default:
		then(chosen{value: n})
	}
}

func (g *grid) sweep(n *node, f *form, then func(chosen)) {
	take := func(i int) {
		g.mark(n, f.values[i].label(), func() { then(chosen{value: f.values[i], perReplica: f.perReplica}) })
	}
	if i, set := g.zips[f.zip]; set {
		take(i)
		return
	}
	taken := len(f.values)
	if g.counting {
		before := g.weight
		defer func() { g.weight = before }()
		g.weight *= float64(taken)
		taken = 1
	}
	if f.zip == "" {
		for i := range taken {
			take(i)
		}
		return
	}
	for i := range taken {
		g.zips[f.zip] = i
		take(i)
	}
	delete(g.zips, f.zip)
}

// size says how many points the parts have, where they are too many to make.
func (g *grid) size(parts []part) string {
	count := &grid{doc: g.doc, forms: g.forms, names: g.names, zips: map[string]int{}, counting: true, weight: 1}
	count.section(parts, make([]Instance, len(parts)))
	switch {
	case count.met > maxPoints:
		return "as many as the variants alone make"
	case count.weighs < 1e15:
		return strconv.FormatFloat(count.weighs, 'f', 0, 64)
	}
	return fmt.Sprintf("%.3g", count.weighs)
}

// mark runs then with a factor set.
func (g *grid) mark(axis *node, value string, then func()) {
	g.factors = append(g.factors, Factor{Name: g.names[axis], Value: value, Part: g.part})
	then()
	g.factors = g.factors[:len(g.factors)-1]
}

// expand checks the sections of all jobs and, where they are complete, returns
// the grid of each.
func expand(doc *document, grids [][]part, complete bool) (map[string][]Point, []error) {
	c := &checker{forms: map[*node]*form{}, paths: map[*node]string{}, zips: map[string]*node{}}
	for _, parts := range grids {
		for _, p := range parts {
			c.variants(p.variants, p.part)
		}
	}
	if c.errs != nil || !complete {
		return nil, c.errs
	}
	names := c.factors()
	points := map[string][]Point{}
	for i, parts := range grids {
		if len(parts) == 0 {
			continue
		}
		g := &grid{doc: doc, forms: c.forms, names: names, zips: map[string]int{}}
		g.section(parts, make([]Instance, len(parts)))
		if len(g.points) > maxPoints {
			return nil, []error{parts[0].variants.wrong(fmt.Sprintf("a grid of at most %d configurations, not %s", maxPoints, g.size(parts)))}
		}
		points[jobs[i].name] = g.points
	}
	return points, nil
}
