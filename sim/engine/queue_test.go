package engine

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// Of ten groups, 63 % cached is group 6 in the paper and in the code, which
// counts from 0 and rounds up; what is hardly cached is in the lowest.
func TestGroupOf(t *testing.T) {
	paper, code := grouping{count: 10}, grouping{count: 10, code: true}
	for _, x := range []struct{ match, paper, code int }{
		{630, 6, 6}, {99, 1, 0}, {100, 1, 0}, {101, 1, 1}, {199, 1, 1}, {200, 2, 1}, {0, 1, 0}, {1000, 10, 9}, {999, 9, 9},
	} {
		if got := paper.of(int32(x.match), 1000); got != x.paper {
			t.Errorf("%d of 1,000 tokens cached is group %d of the paper, want %d", x.match, got, x.paper)
		}
		if got := code.of(int32(x.match), 1000); got != x.code {
			t.Errorf("%d of 1,000 tokens cached is group %d of the code, want %d", x.match, got, x.code)
		}
	}
}

// The prompt lengths of a group are those whose group it is.
func TestGroupPrompts(t *testing.T) {
	for count := 1; count <= 12; count++ {
		for _, p := range []grouping{{count: count}, {count: count, code: true}} {
			for match := int32(0); match < 40; match++ {
				for prompt := max(match, 1); prompt < 200; prompt++ {
					of := p.of(match, prompt)
					for g := 0; g <= count; g++ {
						low, high := p.prompts(g, match)
						if in := low <= int64(prompt) && int64(prompt) <= high; in != (g == of) && !(p.code && g == count) {
							t.Fatalf("%+v: %d of %d tokens cached is group %d, but in the range of group %d is %v", p, match, prompt, of, g, in)
						}
					}
				}
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	s := rng.New(1, 1, "numbers")
	for _, bound := range []int{1, 63, 64, 65, 4096, 5000, 300000} {
		var set numbers
		set.reset(bound)
		in := map[int32]bool{}
		for range 300 {
			i := int32(s.IntN(bound))
			if in[i] {
				set.remove(i)
				delete(in, i)
			} else {
				set.add(i)
				in[i] = true
			}
			from, want := int32(s.IntN(bound)), int32(math.MaxInt32)
			for j := range in {
				if j >= from {
					want = min(want, j)
				}
			}
			if got := set.from(from); got != want && !(got == none && want == math.MaxInt32) {
				t.Fatalf("bound %d: the next number from %d on is %d, want %d of %v", bound, from, got, want, in)
			}
		}
	}
}

// The nodes below one are those whose numbers follow its own.
func TestPreorder(t *testing.T) {
	w := random(t, rng.New(1, 1, "preorder"), 300)
	var p preorder
	p.number(&w.Forest)
	for n := range int32(w.Forest.Nodes()) {
		if p.node[p.at[n]] != n {
			t.Fatalf("number %d is node %d, want %d", p.at[n], p.node[p.at[n]], n)
		}
		for m := range int32(w.Forest.Nodes()) {
			below := false
			for up := m; up != none; up = w.Forest.Parent[up] {
				below = below || up == n
			}
			if in := p.at[n] <= p.at[m] && p.at[m] < p.at[n]+p.size[n]; in != below {
				t.Fatalf("node %d below %d: %v, by numbers %v", m, n, below, in)
			}
		}
	}
}

func TestRanking(t *testing.T) {
	s := rng.New(1, 1, "ranking")
	var r ranking
	keys := map[int32]int64{}
	for i := range 5000 {
		n := int32(s.IntN(50))
		if s.IntN(3) == 0 {
			r.drop(n)
			delete(keys, n)
		} else {
			key := int64(s.IntN(1000))*8192 + int64(i)
			r.set(n, key)
			keys[n] = key
		}
		want := int32(none)
		for m, key := range keys {
			if want == none || key < keys[want] {
				want = m
			}
			if got, ok := r.has(m); !ok || got != key {
				t.Fatalf("the key of %d is %d, %v, want %d", m, got, ok, key)
			}
		}
		if got := r.first(); got != want {
			t.Fatalf("first is %d, want %d of %v", got, want, keys)
		}
	}
}

// One group an iteration: the cursor goes down over the groups that have
// requests, starts again at the top, and takes 10 (g + 1) requests at most.
func TestCursor(t *testing.T) {
	doc := []workload.Segment{{ID: 1, Tokens: 100}}
	calls := []call{{0, 101, 1, doc}}
	for range 25 { // of each: fully cached, half, and too little to matter
		calls = append(calls, call{10, 101, 1, doc}, call{10, 200, 1, doc}, call{10, 2000, 1, doc})
	}
	p := new(Preble)
	param.Defaults(p)
	p.Order, p.WholeFree = "fcfs-mpq", 0
	p.StepWaitMs, p.FinishWaitMs, p.ContextTokens = 0, 0, 1000000
	log, _, _ := drive(t, build(t, calls), p, linear{}, 10000000)
	var batches [][3]int // by start: requests of each kind
	var starts []int64
	for i := range calls[1:] {
		at, known := slices.BinarySearch(starts, log.StartNs[i+1])
		if !known {
			starts = slices.Insert(starts, at, log.StartNs[i+1])
			batches = slices.Insert(batches, at, [3]int{})
		}
	}
	for i := range calls[1:] {
		at, _ := slices.BinarySearch(starts, log.StartNs[i+1])
		batches[at][i%3]++
	}
	// Groups 9, 4 and 0, with up to 100, 50 and 10 requests.
	if want := [][3]int{{25, 0, 0}, {0, 25, 0}, {0, 0, 10}, {0, 0, 10}, {0, 0, 5}}; !slices.Equal(batches, want) {
		t.Errorf("batches hold %v, want %v", batches, want)
	}
}

// Whatever has left the front of a queue returns there; what a tag calls
// urgent overtakes.
func TestFrontAndPriority(t *testing.T) {
	w := talks(t, rng.New(3, 1, "front"), 40)
	var log Log
	var cache Cache
	log.Reset(w.Len())
	cache.Reset(&w.Forest, 1, Rules{})
	for _, order := range []string{"fcfs", "priority"} {
		var q queue
		q.reset(waitingRules{order: order}, &Setup{Cache: &cache, Work: w, Log: &log})
		for id := range int32(40) {
			q.push(id, 0)
		}
		var got []int32
		for i := 0; q.len() > 0; i++ {
			id := q.peek()
			q.take(id)
			if i == 5 || i == 6 {
				q.front(id)
			} else {
				got = append(got, id)
			}
		}
		want := make([]int32, 40)
		for i := range want {
			want[i] = int32(i)
		}
		if order == "priority" {
			slices.SortStableFunc(want, func(a, b int32) int { return int(w.Priority[b] - w.Priority[a]) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: requests leave in order %v, want %v", order, got, want)
		}
	}
}
