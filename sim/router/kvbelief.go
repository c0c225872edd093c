package router

// KVBelief says what a policy takes the replicas' caches to hold, in blocks.
type KVBelief struct {
	BlockTokens int32   `yaml:"block_tokens" default:"16" min:"1" unit:"tokens" doc:"tokens of a block; what is cached and in flight counts in whole blocks"`
	Belief      string  `yaml:"belief" default:"events" enum:"events|approximate" doc:"what is known of caches: the engines' cache events, or the router's own decisions, believed for a time"`
	TTLSec      float64 `yaml:"ttl_s" default:"120" min:"0.001" max:"1e6" unit:"s" doc:"with belief: approximate, how long a block is believed in after it was last sent"`
	TreeBlocks  int64   `yaml:"tree_blocks" default:"1048576" min:"1" unit:"blocks" doc:"with belief: approximate, blocks that are remembered, each replica's for itself"`
	PruneTo     float64 `yaml:"prune_to" default:"0.8" min:"0" max:"1" unit:"share" doc:"with belief: approximate, share of tree_blocks that is left when they are exceeded, the oldest forgotten"`
}

// WantsEvents implements Subscriber.
func (p *KVBelief) WantsEvents() bool { return p.Belief == "events" }

// build returns the belief, empty.
func (p *KVBelief) build(e Env) *kvBelief {
	k := &kvBelief{block: p.BlockTokens, cached: make([]int32, e.Replicas)}
	if p.Belief == "approximate" {
		k.own = newBlockIndex(e.Work, e.Replicas, blockRules{
			tokens: p.BlockTokens, scope: allEntries, capacity: p.TreeBlocks,
			prune: int64(float64(p.TreeBlocks) * p.PruneTo), ttlNs: int64(p.TTLSec * 1e9), tailFirst: true,
		})
	}
	return k
}

// kvBelief is what a router takes the replicas' caches to hold.
type kvBelief struct {
	block  int32
	own    *blockIndex // of its own decisions; nil where it goes by events
	cached []int32     // by replica, as match left it
}

// match sets cached to the whole blocks of a prompt that each replica has from
// its start on.
func (k *kvBelief) match(id int32, v *View) {
	switch {
	case k.own != nil:
		k.own.expire(v.NowNs)
		k.own.match(id, k.cached)
	case v.Events == nil:
		clear(k.cached)
	default:
		v.Events.Match(v.Work.Leaf[id], k.cached)
		if k.block > 1 {
			for i := range k.cached {
				k.cached[i] /= k.block
			}
		}
	}
}

// sent says that a request goes to a replica.
func (k *kvBelief) sent(id int32, replica int, nowNs int64) {
	if k.own != nil {
		k.own.insert(id, replica, nowNs)
	}
}

// forget says that a replica has lost its cache.
func (k *kvBelief) forget(replica int) {
	if k.own != nil {
		k.own.drop(replica)
	}
}

// kvBooks are what a router believes of caches and the books that it keeps by
// that belief.
type kvBooks struct {
	belief *kvBelief
	books  *books
}

func newKVBooks(e Env, p *KVBelief) kvBooks {
	return kvBooks{p.build(e), newBooks(e.Work, e.Replicas, p.BlockTokens)}
}

// uncached returns the tokens of a prompt that a replica is believed to have to
// compute, after match.
func (k *kvBooks) uncached(id int32, replica int32, v *View) int32 {
	return v.Work.Prompt[id] - k.belief.cached[replica]*k.belief.block
}

// send enters a request that goes to a replica, after match.
func (k *kvBooks) send(id int32, replica int, v *View) {
	v.Believed = k.belief.cached[replica] * k.belief.block
	k.books.send(id, replica, v.Work.Prompt[id]-v.Believed)
	k.belief.sent(id, replica, v.NowNs)
}

// FirstToken implements Observer.
func (k *kvBooks) FirstToken(id int32, _ int, _ *View) { k.books.firstToken(id) }

// Left implements Observer.
func (k *kvBooks) Left(id int32, _ int, _ *View) { k.books.left(id) }

// Down implements Follower: a replica that is gone is forgotten.
func (k *kvBooks) Down(replica int, _ *View) { k.belief.forget(replica) }

// Came implements Follower.
func (k *kvBooks) Came(int, *View) {}
