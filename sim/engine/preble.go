package engine

var prebleScheduler = Scheduler{
	Name:    "preble",
	Summary: "sglang-0.1 with chunked prefill while the KV cache is more than half full, and priority groups by cached share",
	Source:  "Preble's local scheduler (Srivatsa et al., 2025, section 3.3), and its code for what the paper leaves open",
	New:     func() Params { return new(Preble) },
}

// Preble are the parameters of the scheduler preble: sglang-0.1, but while less
// than a share of the KV cache is free it forms a step so, within a budget of
// new tokens:
//
//  1. a token of every running request, with memory as under sglang-0.1; each
//     counts in the budget, and all are in the step even if they exceed it;
//  2. the rest of the prefills that have begun, in order of admission;
//  3. unless a request was retracted, requests from the queue, while budget is
//     left and memory is estimated to suffice for the whole prompt.
//
// While more is free the step is that of sglang-0.1, after the rest of the
// prefills that have begun. In the cases that the paper leaves open, prefills
// that have begun count among the running requests whose outputs the estimate
// expects, and are retracted, the last first, when a single decode is left.
type Preble struct {
	ChunkTokens int     `yaml:"chunk_tokens" default:"512" min:"1" unit:"tokens" doc:"new tokens that a step may compute while prefill is chunked, decodes included"`
	WholeFree   float64 `yaml:"whole_free" default:"0.5" min:"0" max:"2" unit:"share" doc:"while at least this share of the KV cache is neither held nor cached, prompts are computed whole and before decodes; more than 1: never"`
	Order       string  `yaml:"order" default:"priority-groups" enum:"priority-groups|fcfs-mpq|longest-prefix|fcfs|shortest-prompt|priority" doc:"order of the waiting queue: groups by cached share served in proportion to their priority (the paper), one group a step, from the highest down and round again, with at most 10 (g + 1) requests of group g (the code), or as under sglang-0.1"`
	Groups      int     `yaml:"groups" default:"10" min:"1" max:"100" unit:"groups" doc:"number of priority groups"`
	Reclassify  bool    `yaml:"reclassify" default:"true" doc:"whether a waiting request changes its group when the cache changes, or keeps the one that it had when it was first looked at"`
	Radix
}

// NewReplica implements Params.
func (*Preble) NewReplica() Replica { return new(sglang) }

// chunks reports whether prefill is chunked with so much of the KV cache free.
func (p *Preble) chunks(free, capacity int64) bool {
	return float64(free) < float64(p.WholeFree*float64(capacity))
}

// formMixed starts a step of decodes and chunks of prefills.
func (rp *sglang) formMixed(now int64) {
	retracted := rp.room()
	limit := int64(rp.mix.ChunkTokens)
	batch := rp.batch(len(rp.finish), rp.context)
	for i := range rp.prefills {
		if batch.Tokens >= limit {
			break
		}
		rp.compute(i, limit-batch.Tokens, &batch)
	}
	if !retracted {
		rp.enter(now, &batch, limit, false)
	}
	rp.row = 0
	rp.start(now, &batch)
}
