package engine

// Change is a change of what a replica has cached, as a cache event tells of it.
type Change struct {
	TimeNs  int64
	Replica int32
	Node    int32
	Tokens  int32 // of the node that are cached from now on
	Lost    bool  // they are fewer than before
}

// Journal has the cache write its changes down from now on, or no longer.
func (c *Cache) Journal(on bool) { c.journalling, c.journal = on, c.journal[:0] }

// At says what time it is, for the changes that follow.
func (c *Cache) At(now int64) { c.now = now }

// Changes returns the changes that were written down and not forgotten, in
// order of time; valid until the next change.
func (c *Cache) Changes() []Change { return c.journal }

// ForgetChanges forgets the first n changes.
func (c *Cache) ForgetChanges(n int) {
	c.journal = c.journal[:copy(c.journal, c.journal[n:])]
}

// note writes down what replica r now has of a node, of which it had so much.
func (c *Cache) note(r int, node, had int32) {
	if c.journalling {
		now := c.believed[int(node)*c.replicas+r].Cached
		c.journal = append(c.journal, Change{c.now, int32(r), node, now, now < had})
	}
}

// Drop empties the cache of replica r, which has lost its memory. Requests on
// their way stay known. Nothing is written down: whoever follows the cache
// knows that the replica is gone.
func (c *Cache) Drop(r int) {
	c.unwatch(r)
	on := c.journalling
	c.journalling = false
	for n := range int32(c.forest.Nodes()) {
		c.set(r, n, 0)
	}
	c.journalling = on
	if c.tokenwise {
		for n := range c.forest.Nodes() {
			c.pins[n*c.replicas+r] = 0
		}
		c.lru.empty(r)
	}
	c.loose[r] = 0
	c.host.drop(r)
}
