package engine

import "switchyard/sim/workload"

// index orders waiting requests by what is cached of their prompts, without
// looking at them again when the cache changes.
//
// Requests with the same leaf have the same cached prefix, so they share a
// bucket. The cache tells which node has changed, and the buckets below it,
// which stand together in preorder, are looked up again when the next request
// is asked for.
//
// A bucket is a search tree by prompt length whose nodes came before their
// children. The bucket's first request is so the root, and the first of those
// with prompts in a range, which is what a priority group is inside a bucket,
// is the node that a search for the range meets first. Equal lengths are told
// apart by scrambled numbers, so that the tree does not become a list.
type index struct {
	cache  *Cache
	r      int
	work   *workload.Workload
	places []place
	groups grouping // zero: by cached tokens

	buckets  []bucket
	spare    []int32   // unused buckets
	slot     []int32   // by node: its bucket plus one
	rootless int32     // bucket of the requests without a leaf, none without
	waiting  numbers   // numbers in preorder of the nodes with a bucket
	stale    []int32   // buckets to be looked up again
	heads    []ranking // buckets by their first request: [0] by cached tokens, [g] in group g
}

type bucket struct {
	leaf  int32
	root  int32
	match int32 // cached tokens
	stale bool
}

func (x *index) reset(s *Setup, groups grouping) {
	x.cache, x.r, x.work, x.places, x.groups = s.Cache, s.Index, s.Work, s.Log.places, groups
	x.buckets, x.spare, x.stale, x.rootless = x.buckets[:0], x.spare[:0], x.stale[:0], none
	nodes := s.Work.Forest.Nodes()
	x.slot = cleared(x.slot, nodes)
	x.waiting.reset(nodes)
	for len(x.heads) <= groups.count {
		x.heads = append(x.heads, ranking{})
	}
	x.heads = x.heads[:groups.count+1]
	for i := range x.heads {
		x.heads[i].reset()
	}
	s.Cache.watch(s.Index, x)
}

// changed notes that the cached tokens of a node have changed.
func (x *index) changed(node int32) {
	p := &x.cache.order
	end := p.at[node] + p.size[node]
	for i := x.waiting.from(p.at[node]); i != none && i < end; i = x.waiting.from(i + 1) {
		x.spoil(x.slot[p.node[i]] - 1)
	}
}

// spoil has a bucket looked up again.
func (x *index) spoil(b int32) {
	if !x.buckets[b].stale {
		x.buckets[b].stale = true
		x.stale = append(x.stale, b)
	}
}

// refresh looks up the buckets that need it.
func (x *index) refresh() {
	for _, b := range x.stale {
		k := &x.buckets[b]
		if !k.stale {
			continue // it was given up meanwhile
		}
		k.stale = false
		k.match = x.cache.Match(x.r, k.leaf)
		if x.groups.count == 0 {
			x.head(0, b)
			continue
		}
		for g := range x.heads {
			x.head(g, b)
		}
	}
	x.stale = x.stale[:0]
}

// head brings the bucket's first request of a group, or of all, into the
// group's ranking.
func (x *index) head(g int, b int32) {
	k := &x.buckets[b]
	if x.groups.count == 0 {
		x.heads[0].set(b, -int64(k.match)<<32+int64(x.places[k.root].seq))
		return
	}
	low, high := x.groups.prompts(g, k.match)
	if id := x.find(k.root, low, high); id != none {
		x.heads[g].set(b, int64(x.places[id].seq))
	} else {
		x.heads[g].drop(b)
	}
}

func (x *index) begin() {}

func (x *index) take(id int32) { x.drop(id) }

// first returns the first request of those with most cached tokens.
func (x *index) first() int32 {
	x.refresh()
	if b := x.heads[0].first(); b != none {
		return x.buckets[b].root
	}
	return none
}

// firstOf returns the first request of a group, none without.
func (x *index) firstOf(g int) int32 {
	x.refresh()
	b := x.heads[g].first()
	if b == none {
		return none
	}
	low, high := x.groups.prompts(g, x.buckets[b].match)
	return x.find(x.buckets[b].root, low, high)
}

// add enters a request, which is newer or older than all others.
func (x *index) add(id int32) {
	b := x.bucketOf(x.leafOf(id))
	k := &x.buckets[b]
	x.plant(&k.root, id)
	if k.stale {
		return
	}
	if x.groups.count == 0 {
		x.head(0, b)
		return
	}
	g, seq := x.groups.of(k.match, x.work.Prompt[id]), int64(x.places[id].seq)
	if key, ok := x.heads[g].has(b); !ok || seq < key {
		x.heads[g].set(b, seq)
	}
}

// drop takes a request out.
func (x *index) drop(id int32) {
	leaf := x.leafOf(id)
	b := x.rootless
	if leaf != none {
		b = x.slot[leaf] - 1
	}
	k := &x.buckets[b]
	x.uproot(&k.root, id)
	switch {
	case k.root == none:
		x.giveUp(b)
	case k.stale:
	case x.groups.count == 0:
		x.head(0, b)
	default:
		x.head(x.groups.of(k.match, x.work.Prompt[id]), b)
	}
}

// leafOf returns the deepest node of a waiting request that may be cached while
// it waits: its own rest is not, before it has run.
func (x *index) leafOf(id int32) int32 {
	leaf := x.work.Leaf[id]
	if p := x.work.Private; p != none && leaf >= p && !x.cache.everCached(x.r, leaf) {
		return x.work.Forest.Parent[leaf]
	}
	return leaf
}

// bucketOf returns the bucket of a leaf, a new one where it has none.
func (x *index) bucketOf(leaf int32) int32 {
	if leaf == none && x.rootless != none {
		return x.rootless
	}
	if leaf != none && x.slot[leaf] > 0 {
		return x.slot[leaf] - 1
	}
	var b int32
	if n := len(x.spare); n > 0 {
		b, x.spare = x.spare[n-1], x.spare[:n-1]
	} else {
		b = int32(len(x.buckets))
		x.buckets = append(x.buckets, bucket{})
	}
	x.buckets[b] = bucket{leaf: leaf, root: none}
	if leaf == none {
		x.rootless = b
	} else {
		x.slot[leaf] = b + 1
		x.waiting.add(x.cache.order.at[leaf])
	}
	x.spoil(b)
	return b
}

// giveUp returns an empty bucket.
func (x *index) giveUp(b int32) {
	k := &x.buckets[b]
	if k.leaf == none {
		x.rootless = none
	} else {
		x.slot[k.leaf] = 0
		x.waiting.remove(x.cache.order.at[k.leaf])
	}
	k.stale = false
	for g := range x.heads {
		x.heads[g].drop(b)
	}
	x.spare = append(x.spare, b)
}

// before is the order of the trees.
func (x *index) before(a, b int32) bool {
	if p, q := x.work.Prompt[a], x.work.Prompt[b]; p != q {
		return p < q
	}
	return uint32(a)*0x9e3779b1 < uint32(b)*0x9e3779b1
}

// plant puts a request into a tree: below what came before it, above what came
// after, which is split by it.
func (x *index) plant(at *int32, id int32) {
	me := &x.places[id]
	for *at != none && x.places[*at].seq < me.seq {
		if x.before(id, *at) {
			at = &x.places[*at].left
		} else {
			at = &x.places[*at].right
		}
	}
	n := *at
	*at = id
	left, right := &me.left, &me.right
	for n != none {
		if x.before(n, id) {
			*left, left = n, &x.places[n].right
			n = *left
		} else {
			*right, right = n, &x.places[n].left
			n = *right
		}
	}
	*left, *right = none, none
}

// uproot takes a request out of a tree and joins what is below it.
func (x *index) uproot(at *int32, id int32) {
	for *at != id {
		if x.before(id, *at) {
			at = &x.places[*at].left
		} else {
			at = &x.places[*at].right
		}
	}
	a, b := x.places[id].left, x.places[id].right
	for a != none && b != none {
		if x.places[a].seq < x.places[b].seq {
			*at, at = a, &x.places[a].right
			a = *at
		} else {
			*at, at = b, &x.places[b].left
			b = *at
		}
	}
	*at = max(a, b)
}

// find returns the first request of a tree with a prompt in a range, none
// without.
func (x *index) find(n int32, low, high int64) int32 {
	if low > high {
		return none
	}
	for n != none {
		switch p := int64(x.work.Prompt[n]); {
		case p < low:
			n = x.places[n].right
		case p > high:
			n = x.places[n].left
		default:
			return n
		}
	}
	return none
}
