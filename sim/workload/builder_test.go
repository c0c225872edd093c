package workload

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/rng"
)

// plain is what a workload means, computed from paths as strings: no interning,
// no joining of chains, every pair of requests compared.
type plain struct {
	paths  [][]Segment // the prompt's path
	output [][]Segment // path and output segment; nil without
}

func newPlain(requests []Request) *plain {
	p := &plain{}
	for _, r := range requests {
		p.paths = append(p.paths, r.Segments)
		var output []Segment
		if r.OutputID != None {
			output = append(slices.Clone(r.Segments), Segment{r.OutputID, r.Output})
		}
		p.output = append(p.output, output)
	}
	return p
}

// common returns the tokens that two paths share.
func common(a, b []Segment) (tokens int32) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		tokens += a[i].Tokens
	}
	return tokens
}

func (p *plain) ceiling(i int) (most int32) {
	for j := range i {
		most = max(most, common(p.paths[i], p.paths[j]), common(p.paths[i], p.output[j]))
	}
	return most
}

// ends returns the token counts at which nodes end on a path: where it ends,
// where a prompt or an output ends, and where another path leaves it.
func (p *plain) ends(path []Segment) []int32 {
	ends := map[int32]bool{}
	total := common(path, path)
	note := func(other []Segment) {
		if c := common(path, other); c > 0 {
			ends[c] = true
		}
	}
	ends[total] = true
	for i := range p.paths {
		note(p.paths[i])
		note(p.output[i])
	}
	var out []int32
	for e := range ends {
		out = append(out, e)
	}
	slices.Sort(out)
	return out
}

// key returns where the key portion of a request ends: the deepest node that
// is longer than what stands before it.
func (p *plain) key(i int) (end int32) {
	var before int32
	for _, e := range p.ends(p.paths[i]) {
		if e-before > before {
			end = e
		}
		before = e
	}
	return end
}

// random makes requests over a small alphabet, so that paths meet often.
func random(s *rng.Stream, n int) []Request {
	var requests []Request
	lengths := map[string]int32{}
	tokens := func(path string, id int64) int32 {
		key := fmt.Sprint(path, "/", id)
		if lengths[key] == 0 {
			lengths[key] = int32(1 + s.IntN(40))
		}
		return lengths[key]
	}
	var at int64
	for i := range n {
		r := Request{After: None, Session: None, OutputID: None, Output: int32(1 + s.IntN(9))}
		at += int64(s.IntN(3))
		r.ArrivalUs = at
		path := ""
		for range s.IntN(6) {
			id := int64(s.IntN(3))
			r.Segments = append(r.Segments, Segment{id, tokens(path, id)})
			r.Prompt += r.Segments[len(r.Segments)-1].Tokens
			path += fmt.Sprint("/", id)
		}
		switch {
		case r.Prompt > 0 && s.IntN(3) == 0:
			r.OutputID = int64(s.IntN(3))
			r.Output = tokens(path, r.OutputID)
		default:
			r.Prompt += int32(1 + s.IntN(20))
		}
		if i > 0 && s.IntN(5) == 0 {
			r.After, r.ThinkUs = int32(s.IntN(i)), int64(s.IntN(5))
		}
		requests = append(requests, r)
	}
	return requests
}

func build(t *testing.T, requests []Request) *Workload {
	t.Helper()
	var b Builder
	for i := range requests {
		if err := b.Add(&requests[i]); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestBuilderAgainstPlain(t *testing.T) {
	for trial := range 300 {
		s := rng.New(3, trial, "requests")
		requests := random(s, 1+s.IntN(40))
		w, p := build(t, requests), newPlain(requests)
		checkForest(t, w)
		for i := range requests {
			var end, key int32
			var ends []int32
			if leaf := w.Leaf[i]; leaf != None {
				end, key = w.Forest.End[leaf], w.Forest.End[w.Key[i]]
				for n := leaf; n != None; n = w.Forest.Parent[n] {
					ends = append(ends, w.Forest.End[n])
				}
				slices.Reverse(ends)
			} else if w.Key[i] != None {
				t.Fatalf("trial %d request %d: key without a path", trial, i)
			}
			if want := common(p.paths[i], p.paths[i]); end != want {
				t.Fatalf("trial %d request %d: path ends at %d, expected %d", trial, i, end, want)
			}
			if end > 0 && !slices.Equal(ends, p.ends(p.paths[i])) {
				t.Fatalf("trial %d request %d: nodes end at %v, expected %v", trial, i, ends, p.ends(p.paths[i]))
			}
			if want := p.ceiling(i); w.Ceiling[i] != want {
				t.Fatalf("trial %d request %d: ceiling is %d, expected %d", trial, i, w.Ceiling[i], want)
			}
			if want := p.key(i); key != want {
				t.Fatalf("trial %d request %d: key portion ends at %d, expected %d", trial, i, key, want)
			}
			if node := None; w.OutputNode != nil && p.output[i] != nil {
				node = int(w.OutputNode[i])
				if w.Forest.End[node] != common(p.output[i], p.output[i]) {
					t.Fatalf("trial %d request %d: output ends at %d, expected %d", trial, i, w.Forest.End[node], common(p.output[i], p.output[i]))
				}
			}
			for j := range i { // equal nodes exactly for equal paths
				if same := slices.Equal(p.paths[i], p.paths[j]); same != (w.Leaf[i] == w.Leaf[j]) {
					t.Fatalf("trial %d: requests %d and %d have equal paths: %v, equal leaves: %v", trial, i, j, same, !same)
				}
			}
		}
	}
}

// checkForest checks the invariants of the package documentation.
func checkForest(t *testing.T, w *Workload) {
	t.Helper()
	f := &w.Forest
	hashes := map[uint64]bool{}
	for n, parent := range f.Parent {
		before, level := int32(0), int32(0)
		if parent != None {
			if parent >= int32(n) {
				t.Fatalf("node %d has the parent %d", n, parent)
			}
			before, level = f.End[parent], f.Level[parent]
		}
		if f.End[n] != before+f.Tokens[n] || f.Level[n] != level+1 || f.Tokens[n] < 1 {
			t.Fatalf("node %d: tokens %d, end %d, level %d over a parent that ends at %d on level %d", n, f.Tokens[n], f.End[n], f.Level[n], before, level)
		}
		if hashes[f.Hash[n]] {
			t.Fatalf("node %d has the hash of another", n)
		}
		hashes[f.Hash[n]] = true
	}
	last := int64(0)
	for i, at := range w.ArrivalUs {
		if at != None {
			if at < last {
				t.Fatalf("request %d arrives before one in front of it", i)
			}
			last = at
		} else if after := w.After[i]; after == None || after >= int32(i) {
			t.Fatalf("request %d waits for %d", i, after)
		}
		if leaf := w.Leaf[i]; leaf != None && f.End[leaf] > w.Prompt[i] {
			t.Fatalf("request %d: path of %d tokens in a prompt of %d", i, f.End[leaf], w.Prompt[i])
		}
	}
}

// A node's hash depends on its path alone, not on the order of requests.
func TestHashesIgnoreOrder(t *testing.T) {
	s := rng.New(4, 1, "requests")
	requests := random(s, 60)
	hashes := func(requests []Request) map[string]uint64 {
		w, m := build(t, requests), map[string]uint64{}
		for i, r := range requests {
			if w.Leaf[i] != None {
				m[fmt.Sprint(r.Segments)] = w.Forest.Hash[w.Leaf[i]]
			}
		}
		return m
	}
	want := hashes(requests)
	for i := range requests {
		requests[i].After, requests[i].ArrivalUs = None, 0
	}
	shuffle(s, requests)
	if got := hashes(requests); !reflect.DeepEqual(got, want) {
		t.Error("hashes of the same paths differ after shuffling the requests")
	}
}

func TestBuilderRefuses(t *testing.T) {
	ok := Request{After: None, Session: None, OutputID: None, Prompt: 10, Output: 1, Segments: []Segment{{1, 4}}, ArrivalUs: 5}
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(r *Request) { r.Prompt = 0 }, "prompt_tokens is 0"},
		{func(r *Request) { r.Output = 0 }, "output_tokens is 0"},
		{func(r *Request) { r.Prompt = 3 }, "segments hold 4 tokens"},
		{func(r *Request) { r.Segments = []Segment{{1, 0}} }, "segment_tokens[0] is 0"},
		{func(r *Request) { r.Segments = []Segment{{1, 5}} }, "segment 1 has 5 tokens, expected the 4"},
		{func(r *Request) { r.Segments = []Segment{{7, math.MaxInt32}, {8, math.MaxInt32}} }, "expected at most prompt_tokens"},
		{func(r *Request) { r.OutputID = 3 }, "6 private tokens"},
		{func(r *Request) { r.After = 1 }, "after is 1"},
		{func(r *Request) { r.After = -2 }, "after is -2"},
		{func(r *Request) { r.ArrivalUs = -1 }, "arrival_us is -1"},
		{func(r *Request) { r.ArrivalUs = 4 }, "expected at least the 5"},
		{func(r *Request) { r.ThinkUs = -1 }, "think_us is -1"},
	} {
		var b Builder
		first, second := ok, ok
		if err := b.Add(&first); err != nil {
			t.Fatal(err)
		}
		c.change(&second)
		if err := b.Add(&second); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, expected one with %q", err, c.want)
		}
	}
	if _, err := new(Builder).Build(); err == nil {
		t.Error("a workload without requests was built")
	}
}

// A tag priority=N gives a priority; without any there is no slice.
func TestPriorities(t *testing.T) {
	build := func(tags ...[]string) []int32 {
		var b Builder
		for _, t := range tags {
			r := Request{After: None, Session: None, OutputID: None, Prompt: 1, Output: 1, Tags: t}
			if err := b.Add(&r); err != nil {
				panic(err)
			}
		}
		w, err := b.Build()
		if err != nil {
			panic(err)
		}
		return w.Priority
	}
	if got := build(nil, []string{"chat"}, []string{"priority=high"}); got != nil {
		t.Errorf("priorities without one are %v", got)
	}
	got := build(nil, []string{"batch", "priority=-2"}, nil, []string{"priority=7"}, nil)
	if want := []int32{0, -2, 0, 7, 0}; !slices.Equal(got, want) {
		t.Errorf("priorities are %v, want %v", got, want)
	}
}
