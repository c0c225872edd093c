// Package simulate runs the cells of an experiment: simulated clusters behind
// routers. It writes tables `cells` (one row a cell), `requests` (all of them,
// a sample, or none), `replicas` and, where they are asked for, `timeline` and
// `decisions`. Plan.Trace
// runs one cell again for the steps of one of its replicas.
//
// # From a file to rows
//
//  1. NewPlan decodes the workloads, clusters and routers of an experiment and
//     crosses them with the replications. Everything that is wrong with them
//     is found here, before a cell runs.
//
//  2. Each cell gets its key: a hash over all that decides what happens in it,
//     and over nothing else (see Cell.CellKey and Version).
//
//  3. Job makes a task of each cell. The tasks of one workload and replication
//     share its requests, made once, so that all routers see the same ones
//     (common random numbers). They are read from table `workload` where the
//     folder has them.
//
//  4. A task runs a cluster.Sim, fills a Meter from its result, measures it and
//     writes the rows. A worker keeps one of each from cell to cell.
//
//     plan, err := simulate.NewPlan(e)
//     job := simulate.Job(plan, simulate.Options{Dir: dir})
//     report, err := run.Execute(ctx, job, run.Options{Dir: dir})
//
// # Clusters
//
// A replica is a model on one or more GPUs, in two data types; each is a name
// of the catalogue or a section of one's own figures:
//
//	clusters:
//	  - name: mine
//	    replicas: 4
//	    model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 32000}
//	    gpu: {tflops: 500, fp8_tflops: 1000, bandwidth_gbs: 3000, memory_gb: 96}
//	    weight_dtype: fp8
//	    kv_dtype: fp8
//
// Its steps are timed by a roofline with assumed utilisations, which stand in
// the cluster (mfu, mbu, overhead_us, allreduce_latency_us), or by the step
// model that a section step names, with coefficients that someone measured:
//
//	step: {model: linear, base_us: 5000, per_prefill_token_us: 20, per_context_token_us: 0.05}
//	step: {model: table, file: steps.csv}
//
// A table is a CSV file with a header: prefill_tokens, decodes, context_tokens
// (summed over the decodes, before their new tokens) and step_us. A step model
// that uses no figure of the model or the GPU needs none named where the KV
// cache has a size (kv_tokens, or blocks of the scheduler).
//
// # The window
//
// The first share of the arrivals is cut (`warm_up`), by rank of arrival: in
// closed loops, where requests may overtake each other, the rank is that of the
// times at which they came and not of their index. The
// window reaches from the arrival of the first request after the cut, t0, to
// the last arrival, t1. Latencies, hits and balance are over the requests that
// arrived in it, drained to the end; rates and time averages are over (t0, t1].
//
// A request that is turned away at its arrival (it could never fit into the KV
// cache, the queue was full, or no replica took requests) is an arrival, and
// misses the objective. It is
// no work that a cluster fails to complete: saturation is judged by the
// others, and a queue with a bound never saturates, it turns away.
//
// # Lost hits
//
// A request could at most hit the longest prefix that an earlier arrival of
// the workload has too: its ceiling. (Where a waiting order lets a later
// arrival be served first, one request may hit more; the sum over a whole run
// never does.) What the decisions would have hit if no
// replica ever evicted lies below it: the difference is lost to routing, that
// is to sending requests where their prefix is not, or not yet. What the
// caches did hit lies below that: the difference is lost to eviction. Of the
// former, what was on its way to the chosen replica, dispatched and not
// computed yet, is lost in flight. All in prompt tokens, over the requests of
// the window.
package simulate

import "switchyard/stages/table"

// Version is part of every cell's key. Raise it by one when the same
// parameters give other rows than before: a change of the engine, a router or
// a metric. Cells of another version are run again.
const Version = 6

// The tables.
var (
	Cells = table.New[Cell]("cells",
		"One row a cell, that is one run of a workload on a cluster behind a router in one replication: keys, factors and metrics.")
	Requests = table.New[Request]("requests",
		"One row a request of a cell: where it went, what it found cached, and when it started and finished.")
	Replicas = table.New[Replica]("replicas",
		"One row a replica of a cell: what it served, computed, cached and evicted.")
	Decisions = table.New[Decision]("decisions",
		"What a router saw and how it judged, one row a replica of each decision that is kept; see also cells.false_hits and cells.missed_hits.")
	Timeline = table.New[Moment]("timeline",
		"One row a replica and moment of a cell, at equal intervals: its queue, batch, KV cache and step. Kept with tables: {timeline: true}.")
)

// Tables lists the tables that the stage writes, the deciding one first.
func Tables() []table.Definition {
	return []table.Definition{Cells, Requests, Replicas, Timeline, Decisions}
}
