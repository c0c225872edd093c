package simulate

import (
	"cmp"
	"slices"

	"switchyard/sim/cluster"
)

// Moment is a row of table `timeline`: what a replica did at one moment.
type Moment struct {
	Cell          int32    `parquet:"cell,dict" doc:"cell that the replica belongs to"`
	Replica       int32    `parquet:"replica,dict" doc:"index of the replica"`
	TimeUs        int64    `parquet:"time_us,delta" unit:"us" doc:"the moment, a multiple of the interval, since the first arrival"`
	Busy          bool     `parquet:"busy" doc:"whether it is in a step; the columns below are 0 or NULL where it is not"`
	StepStartUs   *int64   `parquet:"step_start_us" unit:"us" doc:"start of the step"`
	StepUs        *int64   `parquet:"step_us" unit:"us" doc:"how long the step takes"`
	Waiting       int64    `parquet:"waiting_requests,delta" unit:"request" doc:"requests on the replica that were not in the batch when it was formed (in a stretch of decode steps: when the first was)"`
	Running       int64    `parquet:"batch_requests,delta" unit:"request" doc:"requests in the batch"`
	Decodes       int64    `parquet:"decodes,delta" unit:"request" doc:"of those, that decode"`
	PrefillTokens int64    `parquet:"prefill_tokens,delta" unit:"token" doc:"prompt tokens that the step computes"`
	ContextTokens int64    `parquet:"context_tokens,delta" unit:"token" doc:"tokens of context of all requests in the batch, before the step"`
	KVTokens      *int64   `parquet:"kv_tokens" unit:"token" doc:"tokens of KV cache in the step: those that running requests hold and cached prefixes (in whole blocks under vllm-v1, without prefixes that no running request holds), as in replicas.kv_mean_tokens; nothing stands here between steps, when that mean goes on counting cached prefixes"`
	KVShare       *float64 `parquet:"kv_share" unit:"share" doc:"kv_tokens over the capacity"`
}

// Place moves the row to the cell at that position of the grid.
func (m *Moment) Place(index int32) { m.Cell = index }

// sampler turns steps into moments. It implements cluster.Watcher.
type sampler struct {
	cell     int32
	interval int64 // ns
	capacity int64
	next     []int64 // by replica: the next moment, ns
	rows     []Moment
}

// reset prepares the sampler for a run.
func (s *sampler) reset(cell int32, intervalS float64, replicas int, capacity int64) {
	s.cell, s.interval, s.capacity = cell, max(1000, int64(intervalS*1e9)), capacity
	s.next = grow(s.next, replicas)
	clear(s.next)
	s.rows = s.rows[:0]
}

// Step implements cluster.Watcher.
func (s *sampler) Step(step cluster.Step) {
	s.idle(step.Replica, step.StartNs)
	for ; s.next[step.Replica] < step.EndNs; s.next[step.Replica] += s.interval {
		start, length, kv := step.StartNs/1000, (step.EndNs-step.StartNs)/1000, step.KVTokens
		share := float64(kv) / float64(s.capacity)
		s.rows = append(s.rows, Moment{
			Cell: s.cell, Replica: int32(step.Replica), TimeUs: s.next[step.Replica] / 1000, Busy: true, StepStartUs: &start, StepUs: &length,
			Waiting: step.Waiting, Running: step.Requests, Decodes: step.Decodes, PrefillTokens: step.Prefill, ContextTokens: step.Context,
			KVTokens: &kv, KVShare: &share,
		})
	}
}

// idle adds the moments of a replica up to a time at which it does nothing.
func (s *sampler) idle(replica int, until int64) {
	for ; s.next[replica] < until; s.next[replica] += s.interval {
		s.rows = append(s.rows, Moment{Cell: s.cell, Replica: int32(replica), TimeUs: s.next[replica] / 1000})
	}
}

// finish adds the moments up to the end of the run, and sorts them by replica
// and time.
func (s *sampler) finish(end int64) {
	for replica := range s.next {
		s.idle(replica, end)
	}
	slices.SortFunc(s.rows, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.Replica, b.Replica), cmp.Compare(a.TimeUs, b.TimeUs))
	})
}
