package cluster

import (
	"fmt"

	"switchyard/sim/workload"
)

// checkPools reports what is wrong with the pools for a workload.
func (c *Config) checkPools(w *workload.Workload) error {
	sum := 0
	for i, p := range c.Pools {
		if p.Replicas < 1 || p.KVTokens < 1 || p.Step == nil {
			return fmt.Errorf("pool %d has %d replicas of %d tokens of KV cache, expected at least 1 of each and a step model", i, p.Replicas, p.KVTokens)
		}
		sum += p.Replicas
	}
	if len(c.Pools) > 0 && sum != c.Replicas {
		return fmt.Errorf("pools have %d replicas, expected the %d of the cluster", sum, c.Replicas)
	}
	for id, pool := range w.Pool {
		if int(pool) >= max(1, len(c.Pools)) {
			return fmt.Errorf("request %d asks for pool %d, expected one of 0 to %d", id, pool, max(1, len(c.Pools))-1)
		}
	}
	return nil
}

// pools returns the number of pools.
func (c *Config) pools() int { return max(1, len(c.Pools)) }

// pool returns a pool; without any the whole cluster is one.
func (c *Config) pool(i int) Pool {
	if len(c.Pools) == 0 {
		return Pool{c.Replicas, c.Step, c.KVTokens}
	}
	return c.Pools[i]
}

// span returns the replicas of a pool: from the first to before the second.
func (c *Config) span(pool int) (from, to int) {
	for i := range pool {
		from += c.pool(i).Replicas
	}
	return from, from + c.pool(pool).Replicas
}

// poolOf returns the pool of a replica.
func (c *Config) poolOf(replica int) int {
	for i := range c.pools() {
		if _, to := c.span(i); replica < to {
			return i
		}
	}
	panic("cluster: no pool has the replica")
}
