package router

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// literal is the tree once more, over the pages themselves: each is a text.
type literal struct {
	work  *workload.Workload
	page  int32
	root  *literalNode
	clock int64
	tails int
	last  bool
}

type literalNode struct {
	text   []string
	below  map[string]*literalNode
	owners map[int]int64
	named  int
	above  *literalNode
}

func newLiteral(w *workload.Workload, page int32, last bool) *literal {
	return &literal{work: w, page: page, last: last, root: &literalNode{below: map[string]*literalNode{}, owners: map[int]int64{}}}
}

// pagesOf spells a prompt; its tail is new each time.
func (l *literal) pagesOf(id int32) (out []string) {
	w := l.work
	var tokens []string
	var spell func(n int32)
	spell = func(n int32) {
		if n != workload.None {
			spell(w.Forest.Parent[n])
			for i := range w.Forest.Tokens[n] {
				tokens = append(tokens, fmt.Sprintf("%d.%d ", n, i))
			}
		}
	}
	spell(w.Leaf[id])
	for int32(len(tokens)) < w.Prompt[id] {
		l.tails++
		tokens = append(tokens, fmt.Sprint("tail", l.tails, " "))
	}
	for p := int32(0); p+l.page <= int32(len(tokens)); p += l.page {
		text := ""
		for _, t := range tokens[p : p+l.page] {
			text += t
		}
		out = append(out, text)
	}
	return out
}

func common(a, b []string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// match returns the node in which what is known ends, and its tokens.
func (l *literal) match(text []string) (*literalNode, int32) {
	n, tokens := l.root, int32(0)
	for len(text) > 0 && n.below[text[0]] != nil {
		n = n.below[text[0]]
		k := common(n.text, text)
		tokens += int32(k) * l.page
		text = text[k:]
		if k < len(n.text) {
			break
		}
	}
	return n, tokens
}

func (l *literal) insert(text []string, tenant int) {
	l.clock++
	at := l.root
	for len(text) > 0 {
		n := at.below[text[0]]
		if n == nil {
			n = &literalNode{text: text, below: map[string]*literalNode{}, owners: map[int]int64{}, named: tenant, above: at}
			at.below[text[0]] = n
		} else if k := common(n.text, text); k < len(n.text) {
			upper := &literalNode{text: n.text[:k], below: map[string]*literalNode{n.text[k]: n}, owners: maps.Clone(n.owners), named: n.named, above: at}
			at.below[text[0]] = upper
			n.text, n.above = n.text[k:], upper
			n = upper
		}
		if _, ok := n.owners[tenant]; !ok {
			n.owners[tenant] = 0
		}
		if l.last {
			n.named = tenant
		}
		text = text[len(n.text):]
		at = n
	}
	if at != l.root {
		at.owners[tenant] = l.clock
	}
}

func (l *literal) walk(visit func(n *literalNode, end int32)) {
	var down func(n *literalNode, end int32)
	down = func(n *literalNode, end int32) {
		for _, c := range n.below {
			down(c, end+int32(len(c.text))*l.page)
		}
		if n != l.root {
			visit(n, end)
		}
	}
	down(l.root, 0)
}

func (l *literal) size(tenant int) (sum int64) {
	l.walk(func(n *literalNode, _ int32) {
		if _, ok := n.owners[tenant]; ok {
			sum += int64(len(n.text)) * int64(l.page)
		}
	})
	return sum
}

func (l *literal) evict(tenant int, most int64) {
	for l.size(tenant) > most {
		var oldest *literalNode
		l.walk(func(n *literalNode, _ int32) {
			stamp, owns := n.owners[tenant]
			for _, c := range n.below {
				if _, inner := c.owners[tenant]; inner {
					owns = false
				}
			}
			if owns && (oldest == nil || stamp < oldest.owners[tenant]) {
				oldest = n
			}
		})
		delete(oldest.owners, tenant)
		if len(oldest.owners) == 0 {
			delete(oldest.above.below, oldest.text[0])
		}
	}
}

// shapes lists the nodes of both trees in a form that can be compared.
func (l *literal) shape() (out []string) {
	l.walk(func(n *literalNode, end int32) {
		line := fmt.Sprint(end, " ", int32(len(n.text))*l.page)
		for _, tenant := range slices.Sorted(maps.Keys(n.owners)) {
			line += fmt.Sprintf(" %d@%d", tenant, n.owners[tenant])
		}
		out = append(out, line)
	})
	slices.Sort(out)
	return out
}

func (t *tree) shape() (out []string) {
	for i, n := range t.nodes {
		if n.head == none {
			continue
		}
		end := int32(0)
		for x := int32(i); x != none; x = t.nodes[x].parent {
			end += t.nodes[x].tokens
		}
		line := fmt.Sprint(end, " ", n.tokens)
		owners := map[int]int64{}
		for r := n.head; r != none; r = t.recs[r].next {
			owners[int(t.recs[r].tenant)] = t.recs[r].stamp
		}
		for _, tenant := range slices.Sorted(maps.Keys(owners)) {
			line += fmt.Sprintf(" %d@%d", tenant, owners[tenant])
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// branching makes requests whose paths are random walks in a tree of segments,
// with lengths around a page's.
func branching(t testing.TB, requests int, stream *rng.Stream) *workload.Workload {
	t.Helper()
	var b workload.Builder
	for range requests {
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: 1}
		path := int64(1)
		for range stream.IntN(6) {
			path = path*3 + int64(stream.IntN(3))
			tokens := int32(1 + path*7%23)
			r.Segments = append(r.Segments, workload.Segment{ID: path, Tokens: tokens})
			r.Prompt += tokens
		}
		r.Prompt += int32(stream.IntN(3) * stream.IntN(20))
		r.Prompt = max(r.Prompt, 1)
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Random inserts, matches, noted matches, evictions and departures leave the
// tree as they leave the one over literal texts, stamps included.
func TestTreeAgainstLiteral(t *testing.T) {
	for _, page := range []int32{1, 4, 16} {
		for _, last := range []bool{false, true} {
			t.Run(fmt.Sprint(page, last), func(t *testing.T) {
				s := rng.New(5, int(page), "tree")
				w := branching(t, 150, s)
				const tenants = 4
				a, b := newTree(w, tenants, page), newLiteral(w, page, last)
				a.last = last
				fallbacks := 0
				for step := range 1200 {
					id := int32(s.IntN(w.Len()))
					k, text := a.match(id), b.pagesOf(id)
					n, tokens := b.match(text)
					if k.tokens != tokens {
						t.Fatalf("step %d: %d tokens of request %d are known, want %d", step, k.tokens, id, tokens)
					}
					tenant := s.IntN(tenants)
					if tokens > 0 {
						named := a.tenant(k)
						if _, owns := n.owners[n.named]; !owns {
							if _, owns := n.owners[named]; !owns {
								t.Fatalf("step %d: tenant %d is named, which does not own the node", step, named)
							}
							n.named = named // which of the owners is open
							fallbacks++
						}
						if named != n.named {
							t.Fatalf("step %d: tenant %d is named, want %d", step, named, n.named)
						}
						if a.touch(k, named, s); a.clock > b.clock {
							b.clock++
							n.owners[named] = b.clock
						}
						if s.IntN(2) == 0 {
							tenant = named
						}
					}
					a.insert(id, k, tenant)
					b.insert(text, tenant)
					switch s.IntN(40) {
					case 0, 1:
						most := int64(s.IntN(400))
						a.shrink(most)
						for i := range tenants {
							b.evict(i, most)
						}
					case 2:
						a.forget(tenant)
						b.evict(tenant, 0)
					}
					for i := range tenants {
						if a.size[i] != b.size(i) {
							t.Fatalf("step %d: tenant %d has %d tokens, want %d", step, i, a.size[i], b.size(i))
						}
					}
					if got, want := a.shape(), b.shape(); step%10 == 0 && !slices.Equal(got, want) {
						t.Fatalf("step %d: nodes are\n%v, want\n%v", step, got, want)
					}
				}
				if fallbacks == 0 {
					t.Error("no named tenant ever lost its node")
				}
				for i := range tenants {
					a.forget(i)
				}
				if len(a.shape()) != 0 || a.table.used != 0 || len(a.spare[0]) != len(a.nodes) || len(a.spare[1]) != len(a.recs) {
					t.Error("an emptied tree still holds something")
				}
			})
		}
	}
}

// What each tenant is believed to have is what its own inserts say.
func TestTreeEach(t *testing.T) {
	s := rng.New(6, 1, "tree")
	w := branching(t, 100, s)
	a := newTree(w, 3, 1)
	var own [3]*literal
	for i := range own {
		own[i] = newLiteral(w, 1, false)
	}
	dst := make([]int32, 3)
	for range 500 {
		id, tenant := int32(s.IntN(w.Len())), s.IntN(3)
		k := a.match(id)
		a.each(k, dst)
		for i := range own {
			text := own[i].pagesOf(id)
			if _, want := own[i].match(text); dst[i] != want || a.have(k, i) != want {
				t.Fatalf("tenant %d has %d and %d tokens of request %d, want %d", i, dst[i], a.have(k, i), id, want)
			}
			if i == tenant {
				own[i].insert(text, i)
			}
		}
		a.insert(id, k, tenant)
	}
}
