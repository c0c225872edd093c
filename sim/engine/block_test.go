package engine

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// plainBlocks is a block cache block by block.
type plainBlocks struct {
	content    [][2]int32 // of each block: node and position, or garbage and whatever
	users      []int
	free       []int // in order of being overwritten
	registered []int // blocks with a content of a node, in order of registration
}

func newPlainBlocks(n int) *plainBlocks {
	p := &plainBlocks{content: make([][2]int32, n), users: make([]int, n)}
	for b := range n {
		p.content[b][0] = garbage
		p.free = append(p.free, b)
	}
	return p
}

// lookup returns the first valid block of a content, or -1.
func (p *plainBlocks) lookup(node, at int32) int {
	for _, b := range p.registered {
		if p.content[b] == [2]int32{node, at} {
			return b
		}
	}
	return -1
}

func (p *plainBlocks) use(b int) {
	if p.users[b]++; p.users[b] == 1 {
		p.free = slices.Delete(p.free, slices.Index(p.free, b), slices.Index(p.free, b)+1)
	}
}

func (p *plainBlocks) take() int {
	b := p.free[0]
	if i := slices.Index(p.registered, b); i >= 0 {
		p.registered = slices.Delete(p.registered, i, i+1)
	}
	p.content[b][0] = garbage
	p.use(b)
	return b
}

func (p *plainBlocks) release(blocks []int) {
	for _, b := range slices.Backward(blocks) {
		if p.users[b]--; p.users[b] == 0 {
			p.free = append(p.free, b)
		}
	}
}

// twin is a request that both caches serve.
type twin struct {
	path   []int32
	upTo   int32 // blocks of nodes that it may fill
	full   int32
	holds  []blockHold
	blocks []int
}

// nodeOf returns the node of a path that has a position.
func (p *blockPool) nodeOf(path []int32, at int32) int32 {
	for _, n := range path {
		if from, to := p.span(n); from <= at && at < to {
			return n
		}
	}
	panic("no node")
}

// A pool of runs does what blocks one by one do: after any sequence of lookups,
// fills in any interleaving, and releases, its free list expands to theirs. The
// interleavings make many blocks of one content.
func TestBlocks(t *testing.T) {
	most := 0
	for trial := range 300 {
		s := rng.New(uint64(trial), 1, "blocks")
		var b workload.Builder
		for i := range 12 {
			path := []workload.Segment{{ID: int64(s.IntN(2)), Tokens: 0}, {ID: 10 + int64(s.IntN(2))}, {ID: 20 + int64(s.IntN(3))}}
			r := workload.Request{After: none, Session: none, OutputID: none, Output: 1, Prompt: 1}
			for k := range path[:1+s.IntN(3)] {
				path[k].Tokens = int32(3 + path[k].ID%10*7)
				r.Segments = append(r.Segments, path[k])
				r.Prompt += path[k].Tokens
			}
			if err := b.Add(&r); err != nil {
				t.Fatal(i, err)
			}
		}
		w, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		var cache Cache
		cache.Reset(&w.Forest, 1, Rules{Block: 1})
		total := 25 + s.IntN(60)
		var pool blockPool
		pool.reset(Setup{Work: w, Cache: &cache}, int32(1+s.IntN(4)), int32(total))
		plain := newPlainBlocks(total)
		var live []*twin
		for op := range 400 {
			switch k := s.IntN(10); {
			case k < 3:
				if q := admitTwin(w, s, &pool, plain); q != nil {
					live = append(live, q)
				}
			case k < 8 && len(live) > 0:
				fillTwin(live[s.IntN(len(live))], int32(1+s.IntN(4)), &pool, plain)
			case len(live) > 0:
				i := s.IntN(len(live))
				pool.release(live[i].holds)
				plain.release(live[i].blocks)
				live = slices.Delete(live, i, i+1)
			}
			if err := sameFree(&pool, plain); err != nil {
				t.Fatalf("trial %d, operation %d: %v", trial, op, err)
			}
			for n := range pool.cells {
				runs := 0
				for r := pool.cells[n].first; r != 0; r = pool.runs[r].after {
					runs++
				}
				most = max(most, runs)
			}
		}
	}
	if most < 5 {
		t.Errorf("no node ever had more than %d runs", most)
	}
}

// admitTwin looks the path of some request up in both caches, up to a random
// position, and lets a request hold what is found; nil where nothing would fit.
func admitTwin(w *workload.Workload, s *rng.Stream, pool *blockPool, plain *plainBlocks) *twin {
	q := new(twin)
	leaf := w.Leaf[s.IntN(w.Len())]
	for n := leaf; n != none; n = w.Forest.Parent[n] {
		q.path = append(q.path, n)
	}
	slices.Reverse(q.path)
	q.upTo = w.Forest.End[leaf] / pool.size
	hit, _ := pool.deepest(leaf)
	hit = min(hit, int32(s.IntN(int(q.upTo)+2)))
	free := pool.find(q.path, hit)
	for at := range hit {
		b := plain.lookup(pool.nodeOf(q.path, at), at)
		if plain.users[b] == 0 {
			free--
		}
		q.blocks = append(q.blocks, b)
	}
	if free != 0 {
		panic(fmt.Sprintf("the pool counts %d free blocks more", free))
	}
	for _, b := range q.blocks {
		plain.use(b)
	}
	q.holds, q.full = pool.hold(nil), hit
	return q
}

// fillTwin gives a request up to n blocks more.
func fillTwin(q *twin, n int32, pool *blockPool, plain *plainBlocks) {
	n = min(n, q.upTo-q.full, pool.free)
	pool.take(n)
	var taken []int
	for range n {
		taken = append(taken, plain.take())
	}
	for _, b := range taken {
		node := pool.nodeOf(q.path, q.full)
		q.holds = pool.fill(q.holds, node, q.full, q.full+1)
		plain.content[b] = [2]int32{node, q.full}
		plain.registered = append(plain.registered, b)
		q.blocks = append(q.blocks, b)
		q.full++
	}
}

// sameFree compares the free list, run by run, with that of single blocks.
func sameFree(pool *blockPool, plain *plainBlocks) error {
	var got [][2]int32
	for id := pool.runs[0].next; id != 0; id = pool.runs[id].next {
		r := &pool.runs[id]
		for at := r.to - 1; at >= r.from; at-- {
			got = append(got, [2]int32{r.owner, at})
		}
	}
	if len(got) != len(plain.free) || int(pool.free) != len(got) {
		return fmt.Errorf("%d free blocks, counted %d, want %d", len(got), pool.free, len(plain.free))
	}
	for i, b := range plain.free {
		want := plain.content[b]
		if got[i][0] != want[0] || want[0] != garbage && got[i] != want {
			return fmt.Errorf("free block %d is %v, want %v", i, got[i], want)
		}
	}
	for n := range pool.cells {
		from, to := pool.span(int32(n))
		for at := from; at < to; at++ {
			if valid := plain.lookup(int32(n), at) >= 0; valid != (at < pool.cells[n].valid) {
				return fmt.Errorf("block %d of node %d: valid %v, but the node is valid up to %d", at, n, valid, pool.cells[n].valid)
			}
		}
	}
	return nil
}
