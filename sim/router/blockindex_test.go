package router

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// blockWork builds prompts by hand: of each the segments, as pairs of id and
// tokens, and the private tokens after them.
func blockWork(t testing.TB, prompts ...[]int64) *workload.Workload {
	t.Helper()
	var b workload.Builder
	for _, p := range prompts {
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: 5}
		for i := 0; i+1 < len(p); i += 2 {
			r.Segments = append(r.Segments, workload.Segment{ID: p[i], Tokens: int32(p[i+1])})
			r.Prompt += int32(p[i+1])
		}
		if len(p)%2 == 1 {
			r.Prompt += int32(p[len(p)-1])
		}
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

// A prompt of 10 + 15 + 8 tokens in blocks of 4: two blocks end in the first
// segment, four more in the second (25/4 = 6), two in the rest (33/4 = 8). A
// prompt that shares the first segment only has its third block for itself.
func TestBlocksOfNodes(t *testing.T) {
	w := blockWork(t, []int64{1, 10, 2, 15, 8}, []int64{1, 10, 3, 15, 8}, []int64{1, 10, 2, 15, 30})
	x := newBlockIndex(w, 2, blockRules{tokens: 4, capacity: 8})
	dst := make([]int32, 2)
	if got := x.match(0, dst); got != 0 {
		t.Fatalf("an empty index has %d blocks", got)
	}
	x.insert(0, 1, 0)
	for id, want := range []int32{6, 2, 6} {
		if got := x.match(int32(id), dst); got != want || dst[1] != want || dst[0] != 0 {
			t.Errorf("prompt %d: %v, want %d on replica 1", id, dst, want)
		}
	}
	if x.size[1] != 8 || x.blocks(0) != 8 {
		t.Errorf("%d blocks of %d in 1, want 8", x.size[1], x.blocks(0))
	}
	// Prompt 1 has 8 blocks, the last 6 of them new: of prompt 0 the blocks 2 to
	// 5 and the rest go, of the shared two none.
	x.insert(1, 1, 1)
	if x.match(0, dst); dst[1] != 2 || x.size[1] != 8 {
		t.Errorf("%v of size %d after eviction, want 2 blocks of 8", dst, x.size[1])
	}
	// Prompt 2 has 13 blocks: its own first 5 are dropped, so that what is left
	// begins with the sixth; without gaps that is nothing.
	x.insert(2, 1, 2)
	if x.match(2, dst); dst[1] != 0 || x.size[1] != 8 {
		t.Errorf("%v of size %d after a long prompt, want none of 8", dst, x.size[1])
	}
}

// Gaps: replica 0 has lost the head, replica 1 has it; block by block the count
// goes on while somebody has the block.
func TestCountAcrossGaps(t *testing.T) {
	w := blockWork(t, []int64{1, 16, 2, 16, 3, 16, 0}, []int64{1, 16, 0}, []int64{9, 8, 0}, []int64{1, 16, 2, 16, 0})
	x := newBlockIndex(w, 3, blockRules{tokens: 4, capacity: 12})
	dst := make([]int32, 3)
	x.insert(0, 0, 0) // 12 blocks
	x.insert(2, 0, 1) // 2 more: the first two of prompt 0 go
	if x.count(0, dst); !slices.Equal(dst, []int32{0, 0, 0}) {
		t.Errorf("%v, want nothing where nobody has the first block", dst)
	}
	x.insert(1, 1, 2)
	if x.count(0, dst); !slices.Equal(dst, []int32{10, 4, 0}) {
		t.Errorf("%v, want 10 on 0, 4 on 1", dst)
	}
	if x.match(0, dst); !slices.Equal(dst, []int32{0, 4, 0}) {
		t.Errorf("%v, want 4 on 1 without gaps", dst)
	}
	x.insert(2, 0, 3)
	x.keep(0, w.Leaf[3], 6) // 6 of the second node's 16 tokens: 1 block of 4
	if x.count(0, dst); !slices.Equal(dst, []int32{3, 4, 0}) || x.size[0] != 9 {
		t.Errorf("%v with %d blocks on 0, want 3, 4, 0 with 9", dst, x.size[0])
	}
	x.drop(0)
	if x.count(0, dst); !slices.Equal(dst, []int32{0, 4, 0}) || x.size[0] != 0 {
		t.Errorf("%v after replica 0 was dropped", dst)
	}
}

// blockNaive is the index by its definition: a list of hashes with their
// replicas, oldest first.
type blockNaive struct {
	rules   blockRules
	work    *workload.Workload
	entries []naiveBlock
}

type naiveBlock struct {
	hash    string
	node    int32 // in which it ends
	end     int32 // tokens of the prompt
	stampNs int64
	on      map[int]bool
}

// hashes returns the blocks of a prompt, by literal text.
func (x *blockNaive) hashes(id int32) (bs []naiveBlock) {
	w := x.work
	var path []int32
	for n := w.Leaf[id]; n != workload.None; n = w.Forest.Parent[n] {
		path = append([]int32{n}, path...)
	}
	for end := x.rules.tokens; end <= w.Prompt[id]; end += x.rules.tokens {
		if x.rules.prompt > 0 && int32(len(bs)) == x.rules.prompt {
			break
		}
		b := naiveBlock{hash: fmt.Sprintf("private %d", id), node: workload.None, end: end}
		for _, n := range path {
			if w.Forest.End[n] >= end {
				b.hash, b.node = fmt.Sprintf("%x", w.Forest.Hash[n]), n
				break
			}
		}
		b.hash = fmt.Sprintf("%s to %d", b.hash, end)
		bs = append(bs, b)
	}
	return bs
}

func (x *blockNaive) holders(hash string) map[int]bool {
	on := map[int]bool{}
	for _, e := range x.entries {
		if e.hash == hash {
			for r := range e.on {
				on[r] = true
			}
		}
	}
	return on
}

func (x *blockNaive) match(id int32, replicas int, gaps bool) []int32 {
	dst := make([]int32, replicas)
	for k, b := range x.hashes(id) {
		on := x.holders(b.hash)
		if len(on) == 0 {
			break
		}
		for r := range on {
			if gaps || dst[r] == int32(k) {
				dst[r]++
			}
		}
	}
	return dst
}

func (x *blockNaive) insert(id int32, replica int, now int64) {
	bs := x.hashes(id)
	if x.rules.tailFirst {
		slices.Reverse(bs)
	}
	for _, b := range bs {
		b.stampNs, b.on = now, map[int]bool{replica: true}
		at := slices.IndexFunc(x.entries, func(e naiveBlock) bool {
			return e.hash == b.hash && (x.rules.scope == allBlocks || e.on[replica])
		})
		if at >= 0 {
			for r := range x.entries[at].on {
				b.on[r] = true
			}
			x.entries = slices.Delete(x.entries, at, at+1)
		}
		x.entries = append(x.entries, b)
		if x.rules.prune == 0 && x.rules.scope != allBlocks {
			x.evict(replica, x.rules.capacity)
		}
	}
	if x.rules.prune > 0 && x.size(replica) > x.rules.capacity {
		x.evict(replica, x.rules.prune)
	}
	x.evict(replica, x.rules.capacity)
}

func (x *blockNaive) counts(e naiveBlock, replica int) bool {
	return x.rules.scope != eachReplica || e.on[replica]
}

func (x *blockNaive) size(replica int) (n int64) {
	for _, e := range x.entries {
		if x.counts(e, replica) {
			n++
		}
	}
	return n
}

func (x *blockNaive) evict(replica int, left int64) {
	for x.rules.capacity > 0 && x.size(replica) > left {
		at := slices.IndexFunc(x.entries, func(e naiveBlock) bool { return x.counts(e, replica) })
		x.entries = slices.Delete(x.entries, at, at+1)
	}
}

// expire looks at every sweep since the last call.
func (x *blockNaive) expire(last, now int64) {
	for t := last + 1; t <= now; t++ {
		if x.rules.ttlNs > 0 && (x.rules.sweepNs == 0 || t%x.rules.sweepNs == 0) {
			x.entries = slices.DeleteFunc(x.entries, func(e naiveBlock) bool { return e.stampNs+x.rules.ttlNs <= t })
		}
	}
}

func (x *blockNaive) keep(replica int, node, tokens int32) {
	f := &x.work.Forest
	for i := range x.entries {
		e := &x.entries[i]
		if e.node == node && e.end > f.End[node]-f.Tokens[node]+tokens {
			delete(e.on, replica)
		}
	}
	if x.rules.scope != allBlocks {
		x.entries = slices.DeleteFunc(x.entries, func(e naiveBlock) bool { return len(e.on) == 0 })
	}
}

func (x *blockNaive) drop(replica int) {
	for i := range x.entries {
		delete(x.entries[i].on, replica)
	}
	if x.rules.scope != allBlocks {
		x.entries = slices.DeleteFunc(x.entries, func(e naiveBlock) bool { return len(e.on) == 0 })
	}
}

// randomPrompts makes prompts over a small tree of segments of odd lengths.
func randomPrompts(t testing.TB, s *rng.Stream, n int) *workload.Workload {
	prompts := make([][]int64, n)
	for i := range prompts {
		for depth := range s.IntN(4) {
			id := int64(s.IntN(2) + 1)
			prompts[i] = append(prompts[i], int64(depth)*10+id, []int64{2, 13, 7, 22}[depth]+5*id)
		}
		prompts[i] = append(prompts[i], int64(s.IntN(20))+1)
	}
	return blockWork(t, prompts...)
}

// Over random histories the index says what the definition says, in every
// scope, with capacities, ages, evictions that are told, and lost replicas.
func TestBlockIndexAgainstNaive(t *testing.T) {
	const replicas = 3
	for round := range 120 {
		s := rng.New(5, round, "blocks")
		w := randomPrompts(t, s, 30)
		rules := blockRules{tokens: int32(s.IntN(5) + 1), scope: blockScope(round % 3), tailFirst: s.IntN(3) == 0}
		if s.IntN(4) > 0 {
			rules.capacity = int64(s.IntN(60) + 5)
		}
		if rules.capacity > 0 && s.IntN(3) == 0 {
			rules.prune = rules.capacity*8/10 + 1
		}
		if s.IntN(2) == 0 {
			rules.ttlNs = int64(s.IntN(40) + 5)
			rules.sweepNs = int64(s.IntN(3) * 7)
		}
		if s.IntN(3) == 0 {
			rules.prompt = int32(s.IntN(12) + 1)
		}
		x, naive := newBlockIndex(w, replicas, rules), &blockNaive{rules: rules, work: w}
		last, used := int64(0), map[int32]bool{}
		for step := range 250 {
			now := last + int64(s.IntN(4))
			x.expire(now)
			naive.expire(last, now)
			last = now
			id, r := int32(s.IntN(w.Len())), s.IntN(replicas)
			got := make([]int32, replicas)
			for _, gaps := range []bool{false, true} {
				most := x.match(id, got)
				if gaps {
					most = x.count(id, got)
				}
				// A private rest is a new text each time that it is sent.
				if want := naive.match(id, replicas, gaps); !used[id] && !slices.Equal(got, want) || most != slices.Max(got) {
					t.Fatalf("round %d step %d, %+v: prompt %d matches %v, want %v", round, step, rules, id, got, want)
				}
			}
			switch n := w.Leaf[id]; {
			case s.IntN(12) == 0 && n != workload.None:
				tokens := int32(s.IntN(int(w.Forest.Tokens[n])))
				x.keep(r, n, tokens)
				naive.keep(r, n, tokens)
			case s.IntN(60) == 0:
				x.drop(r)
				naive.drop(r)
			case !used[id]:
				x.insert(id, r, now)
				naive.insert(id, r, now)
				used[id] = w.Leaf[id] == workload.None || w.Prompt[id] > w.Forest.End[w.Leaf[id]]
			}
			for r := range replicas {
				if got, want := x.size[x.list(r)], naive.size(r); got != want && rules.capacity > 0 {
					t.Fatalf("round %d step %d, %+v: %d blocks in the list of %d, want %d", round, step, rules, got, r, want)
				}
			}
		}
	}
}

// What is forgotten is used again: extents are bounded by the capacity.
func TestBlockIndexIsBounded(t *testing.T) {
	s := rng.New(6, 1, "bounded")
	w := randomPrompts(t, s, 200)
	for _, scope := range []blockScope{eachReplica, allEntries, allBlocks} {
		x := newBlockIndex(w, 2, blockRules{tokens: 4, scope: scope, capacity: 40})
		for i := range 20000 {
			x.insert(int32(s.IntN(w.Len())), s.IntN(2), int64(i))
		}
		if n := len(x.extents); n > 2*2*(40+20) {
			t.Errorf("%d extents for 40 blocks", n)
		}
	}
}

// deepPrompts makes prompts of 40 to 240 segments of 512 tokens that branch at
// every seventh or so.
func deepPrompts(t testing.TB, n int) *workload.Workload {
	s := rng.New(1, 1, "deep")
	prompts := make([][]int64, n)
	for i := range prompts {
		for d := range 40 + s.IntN(200) {
			prompts[i] = append(prompts[i], int64(d*10+s.IntN(2)/(1+d%7)), 512)
		}
		prompts[i] = append(prompts[i], 100)
	}
	return blockWork(t, prompts...)
}

// One operation counts a prompt's blocks on all replicas and inserts it on any.
func BenchmarkBlockIndex(b *testing.B) {
	tool := new(workload.ToolUse)
	param.Defaults(tool)
	tools, err := (&workload.Spec{Seed: 1, Replication: 1, Requests: 20000, Generator: tool,
		Arrivals: &workload.Poisson{Rate: workload.Rate{RPS: 8}}}).Build()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		w    *workload.Workload
	}{{"tool-use", tools}, {"deep", deepPrompts(b, 4000)}} {
		for _, replicas := range []int{8, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", c.name, replicas), func(b *testing.B) {
				x := newBlockIndex(c.w, replicas, blockRules{tokens: 16, capacity: 31250})
				dst := make([]int32, replicas)
				s := rng.New(1, 1, "place")
				b.ReportAllocs()
				for i := range b.N {
					id := int32(i % c.w.Len())
					x.count(id, dst)
					x.insert(id, s.IntN(replicas), int64(i))
				}
			})
		}
	}
}
