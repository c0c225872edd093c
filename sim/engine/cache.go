package engine

import (
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

const none = workload.None

// Cache holds the prefix caches of all replicas of a cluster over one prefix
// forest, as matrices [node][replica]: a router that asks every replica for
// one prefix reads consecutive memory.
type Cache struct {
	forest   *workload.Forest
	replicas int
	evict    string
	block    int32 // tokens that are cached together, 1 for any number

	believed []Believed // what is cached, and what is on its way
	pins     []int32    // running requests whose path has the node
	lru      recency    // of unpinned cached nodes
	ever     []uint8    // everReady, everSent
	holders  []int32    // by node: replicas with cached tokens
	known    []int32    // by node: replicas with cached tokens or requests on their way
	most     []int32    // by node: most tokens cached on a replica

	host     hostTier
	cached   []int64  // by replica: cached tokens
	loose    []int64  // by replica: cached tokens that are not pinned
	evicted  []int64  // by replica: tokens evicted so far
	watched  []*index // by replica: what is told of changes, nil without
	order    preorder // of the forest, where one is told
	distinct int64    // tokens cached on at least one replica

	draws       uint64 // of leaves, for eviction at random
	tokenwise   bool   // the replicas keep no blocks of their own
	journalling bool
	journal     []Change
	now         int64
}

// Believed is what a router with perfect local knowledge knows of a node on a replica.
type Believed struct {
	Cached int32 // tokens of the node in the cache
	Sent   int32 // unfinished requests sent there whose path has the node
}

const (
	everReady = 1 << iota // the node was cached once
	everSent              // a request with the node was once sent here
)

// Reset empties the cache and lays it out for a forest and a number of replicas.
func (c *Cache) Reset(f *workload.Forest, replicas int, rules Rules) {
	c.forest, c.replicas, c.evict, c.block, c.distinct = f, replicas, rules.Evict, max(1, rules.Block), 0
	cells := f.Nodes() * replicas
	c.believed = cleared(c.believed, cells)
	c.draws, c.now, c.journal = 0, 0, c.journal[:0]
	if c.tokenwise = rules.Block == 0; c.tokenwise { // blocks are kept by the replicas
		c.pins = cleared(c.pins, cells)
		c.lru.reset(f.Nodes(), replicas)
	}
	c.ever = cleared(c.ever, cells)
	c.holders = cleared(c.holders, f.Nodes())
	c.known = cleared(c.known, f.Nodes())
	c.most = cleared(c.most, f.Nodes())
	c.host.reset(f, replicas, rules.HostTokens)
	c.cached = cleared(c.cached, replicas)
	c.loose = cleared(c.loose, replicas)
	c.evicted = cleared(c.evicted, replicas)
	c.watched = cleared(c.watched, replicas)
}

// cleared returns s with n zero elements, in its old memory where that suffices.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// watch has x told of changes on replica r.
func (c *Cache) watch(r int, x *index) {
	c.order.number(c.forest)
	c.watched[r] = x
}

func (c *Cache) unwatch(r int) { c.watched[r] = nil }

// Whole returns how many tokens of a node can be cached: those up to the end of
// the last block that ends in it.
func (c *Cache) Whole(node int32) int32 {
	f := c.forest
	return max(0, f.Tokens[node]-f.End[node]%c.block)
}

// Match returns the tokens of the longest prefix of the path to leaf that
// replica r has cached.
func (c *Cache) Match(r int, leaf int32) int32 {
	f := c.forest
	for n := leaf; n != none; n = f.Parent[n] {
		if have := c.believed[int(n)*c.replicas+r].Cached; have > 0 {
			return f.End[n] - f.Tokens[n] + have
		}
	}
	return 0
}

// matched returns the deepest node of the path to leaf of which replica r has
// tokens cached, none without.
func (c *Cache) matched(r int, leaf int32) int32 {
	n := leaf
	for n != none && c.believed[int(n)*c.replicas+r].Cached == 0 {
		n = c.forest.Parent[n]
	}
	return n
}

// Best returns the tokens of the longest prefix of the path to leaf that any
// replica has cached.
func (c *Cache) Best(leaf int32) int32 {
	f := c.forest
	for n := leaf; n != none; n = f.Parent[n] {
		if c.most[n] > 0 {
			return f.End[n] - f.Tokens[n] + c.most[n]
		}
	}
	return 0
}

// Believed returns what is known of a node on replica r.
func (c *Cache) Believed(r int, node int32) Believed { return c.believed[int(node)*c.replicas+r] }

// everCached reports whether replica r has ever had a node cached.
func (c *Cache) everCached(r int, node int32) bool {
	return c.ever[int(node)*c.replicas+r]&everReady != 0
}

// tokens returns the tokens of a node that replica r has cached.
func (c *Cache) tokens(r int, node int32) int32 { return c.believed[int(node)*c.replicas+r].Cached }

// Known returns the deepest node of the path to leaf that some replica has
// cached or on its way, with one entry a replica; none and nil without.
func (c *Cache) Known(leaf int32) (int32, []Believed) {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		if c.known[n] > 0 {
			at := int(n) * c.replicas
			return n, c.believed[at : at+c.replicas]
		}
	}
	return none, nil
}

// Send notes that a request with this path goes to replica r, and returns the
// tokens of its prefix, in whole blocks, that were ever sent there before. With
// track the path counts as on its way until Forget.
func (c *Cache) Send(r int, leaf int32, track bool) (before int32) {
	f := c.forest
	for n := leaf; n != none; n = f.Parent[n] {
		at := int(n)*c.replicas + r
		if c.ever[at]&everSent != 0 {
			before = f.End[n] / c.block * c.block
			break
		}
		c.ever[at] |= everSent
	}
	if !track {
		return before
	}
	for n := leaf; n != none; n = f.Parent[n] {
		b := &c.believed[int(n)*c.replicas+r]
		if b.Sent == 0 && b.Cached == 0 {
			c.known[n]++
		}
		b.Sent++
	}
	return before
}

// Forget undoes a tracked Send when the request has left.
func (c *Cache) Forget(r int, leaf int32) {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		b := &c.believed[int(n)*c.replicas+r]
		b.Sent--
		if b.Sent == 0 && b.Cached == 0 {
			c.known[n]--
		}
	}
}

// unlimited returns the tokens of the path to leaf that replica r has ever had cached.
func (c *Cache) unlimited(r int, leaf int32) int32 {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		if c.ever[int(n)*c.replicas+r]&everReady != 0 {
			return c.forest.End[n]
		}
	}
	return 0
}

// looseOn returns the unpinned cached tokens on the path to leaf.
func (c *Cache) looseOn(r int, leaf int32) (tokens int64) {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		at := int(n)*c.replicas + r
		if c.pins[at] > 0 {
			break // so are its ancestors
		}
		tokens += int64(c.believed[at].Cached)
	}
	return tokens
}

// pin keeps the path to leaf from eviction.
func (c *Cache) pin(r int, leaf int32) {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		at := int(n)*c.replicas + r
		if c.pins[at]++; c.pins[at] == 1 && c.believed[at].Cached > 0 {
			c.lru.unlink(r, n)
			c.loose[r] -= int64(c.believed[at].Cached)
		}
	}
}

// unpin releases the path to leaf; nodes that nobody pins any more become the
// newest of the LRU list, the leaf before its ancestors.
func (c *Cache) unpin(r int, leaf int32) {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		at := int(n)*c.replicas + r
		if c.pins[at]--; c.pins[at] == 0 && c.believed[at].Cached > 0 {
			c.lru.push(r, n)
			c.loose[r] += int64(c.believed[at].Cached)
		}
	}
}

// use makes the unpinned cached nodes of the path to leaf the newest of the LRU
// list, the leaf before its ancestors.
func (c *Cache) use(r int, leaf int32) {
	for n := leaf; n != none; n = c.forest.Parent[n] {
		at := int(n)*c.replicas + r
		if c.pins[at] > 0 {
			return // so are its ancestors
		}
		if c.believed[at].Cached > 0 {
			c.lru.unlink(r, n)
			c.lru.push(r, n)
		}
	}
}

// insert caches the whole path to leaf, which is pinned, and returns the
// tokens that were not cached before.
func (c *Cache) insert(r int, leaf int32) (added int64) {
	f := c.forest
	top := leaf // the highest node that changes
	for n := leaf; n != none; n = f.Parent[n] {
		at := int(n)*c.replicas + r
		b := &c.believed[at]
		if b.Cached == f.Tokens[n] {
			break
		}
		top = n
		if b.Cached == 0 {
			c.holders[n]++
			if b.Sent == 0 {
				c.known[n]++
			}
		}
		added += int64(f.Tokens[n] - b.Cached)
		had := b.Cached
		b.Cached = f.Tokens[n]
		c.note(r, n, had)
		c.distinct += int64(f.Tokens[n] - c.most[n])
		c.most[n] = f.Tokens[n]
	}
	for n := leaf; n != none && c.ever[int(n)*c.replicas+r]&everReady == 0; n = f.Parent[n] {
		c.ever[int(n)*c.replicas+r] |= everReady
	}
	if added > 0 {
		c.cached[r] += added
		if x := c.watched[r]; x != nil {
			x.changed(top)
		}
	}
	return added
}

// free evicts until need tokens are freed; the caller knows that so many are loose.
func (c *Cache) free(r int, need int64) {
	if need <= 0 {
		return
	}
	for need > 0 {
		n := c.lru.head[r]
		if c.evict == "random" {
			n = c.drawLeaf(r)
		}
		b := &c.believed[int(n)*c.replicas+r]
		gone := b.Cached
		if c.evict == "token" && int64(gone) > need {
			gone = int32(need)
		}
		if c.host.size > 0 {
			c.host.store(r, n, b.Cached)
		}
		b.Cached -= gone
		if b.Cached == 0 {
			c.lru.unlink(r, n)
			c.holders[n]--
			if b.Sent == 0 {
				c.known[n]--
			}
		}
		c.lower(n, b.Cached+gone)
		c.note(r, n, b.Cached+gone)
		need -= int64(gone)
		c.cached[r] -= int64(gone)
		c.loose[r] -= int64(gone)
		c.evicted[r] += int64(gone)
		if x := c.watched[r]; x != nil {
			x.changed(n)
		}
	}
}

// drawLeaf returns an unpinned cached node of replica r without cached nodes
// below, drawn at random. It goes through all nodes that could be one.
func (c *Cache) drawLeaf(r int) int32 {
	inner := map[int32]bool{}
	n := 0
	for at := c.lru.head[r]; at != none; at = c.lru.links[int(at)*c.replicas+r].next {
		inner[c.forest.Parent[at]] = true
		n++
	}
	c.draws++
	for skip := uint64(0); ; skip++ {
		k := rng.Mix(c.draws<<20+skip) % uint64(n)
		at := c.lru.head[r]
		for ; k > 0; k-- {
			at = c.lru.links[int(at)*c.replicas+r].next
		}
		if !inner[at] {
			return at
		}
	}
}

// set makes the cached tokens of a node on replica r what a replica that keeps
// its own blocks says; those of its ancestors are all that can be.
func (c *Cache) set(r int, n, tokens int32) {
	b := &c.believed[int(n)*c.replicas+r]
	had := b.Cached
	if had == tokens {
		return
	}
	b.Cached = tokens
	c.note(r, n, had)
	c.cached[r] += int64(tokens - had)
	if x := c.watched[r]; x != nil {
		x.changed(n)
	}
	if had == 0 {
		c.holders[n]++
		if b.Sent == 0 {
			c.known[n]++
		}
	}
	if tokens == 0 {
		c.holders[n]--
		if b.Sent == 0 {
			c.known[n]--
		}
	}
	if tokens > c.most[n] {
		c.distinct += int64(tokens - c.most[n])
		c.most[n] = tokens
	} else if tokens < had {
		c.lower(n, had)
	}
}

// lower keeps most[n] and distinct after a replica has lost tokens of a node
// of which it had had the given number.
func (c *Cache) lower(n, had int32) {
	if had < c.most[n] {
		return
	}
	most := int32(0)
	if c.holders[n] > 0 {
		at := int(n) * c.replicas
		for _, b := range c.believed[at : at+c.replicas] {
			most = max(most, b.Cached)
		}
	}
	c.distinct -= int64(c.most[n] - most)
	c.most[n] = most
}

// Totals returns the cached tokens summed over replicas, and those cached on
// at least one of them.
func (c *Cache) Totals() (all, distinct int64) {
	for _, n := range c.cached {
		all += n
	}
	return all, c.distinct
}
