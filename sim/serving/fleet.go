package serving

import (
	"errors"
	"fmt"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/router"
)

// Model is what a replica of a model is.
type Model struct {
	GPUs     int // a replica
	Step     engine.StepModel
	KVTokens int64 // a replica
}

// Fleet is the models that can be served, and how.
type Fleet struct {
	Models []Model
	Engine engine.Params
	Policy string // of the router in front of each model's replicas
	Router router.Params
	Sight  router.Sight
}

// Run serves calls by so many replicas of each model; none of one that is not
// called. The result lasts until the next run of sim.
func (f *Fleet) Run(sim *cluster.Sim, c *Calls, split []int, seed uint64, replication int) (*cluster.Result, error) {
	if len(split) != len(f.Models) || len(c.Load) != len(f.Models) {
		return nil, fmt.Errorf("replicas of %d models and calls of %d, expected %d", len(split), len(c.Load), len(f.Models))
	}
	config := cluster.Config{Engine: f.Engine, Sight: f.Sight}
	pool := make([]int32, len(split)) // clusters have no empty pools
	for m, replicas := range split {
		if replicas < 1 {
			if c.Load[m] > 0 {
				return nil, fmt.Errorf("model %d has calls and no replica", m)
			}
			continue
		}
		pool[m] = int32(len(config.Pools))
		config.Pools = append(config.Pools, cluster.Pool{Replicas: replicas, Step: f.Models[m].Step, KVTokens: f.Models[m].KVTokens})
		config.Replicas += replicas
	}
	if len(config.Pools) == 0 {
		return nil, errors.New("no model has a replica")
	}
	config.Step, config.KVTokens = config.Pools[0].Step, config.Pools[0].KVTokens
	w := *c.Workload
	if w.Pool != nil {
		w.Pool = make([]int32, w.Len())
		for i := range w.Pool {
			w.Pool[i] = pool[c.Workload.Pool[i]]
		}
	}
	return sim.Run(config, &w, f.Policy, f.Router, seed, replication)
}
