package router

import (
	"switchyard/sim/heap"
	"switchyard/sim/workload"
)

// DynamoQueue says when Dynamo's router keeps requests back.
type DynamoQueue struct {
	QueueThreshold float64 `yaml:"queue_threshold" default:"16" min:"0" max:"1000000" unit:"batches" doc:"requests wait in the router while every replica has more than this many full batches of prompt tokens to compute; 16 is the default of config.rs at 0243c51b; 0 = never, as before 1.2 and by default in later documentation"`
	BatchTokens    int64   `yaml:"batch_tokens" default:"8192" min:"1" unit:"tokens" doc:"tokens of a full batch (the engine's max_num_batched_tokens)"`
	QueueOrder     string  `yaml:"queue_order" default:"fcfs" enum:"fcfs|wspt|lcfs" doc:"who goes first: the earliest arrival, a second earlier for each unit of priority; the most of (1 + priority)/uncached tokens on the best replica, as of arrival; or the latest arrival"`
}

// dynamoQueued is the router with its queue. It implements Queuer: what Route
// keeps back it lets go one by one once a replica is at or below the threshold.
type dynamoQueued struct {
	*dynamo
	limit float64 // tokens
	order string
	queue heap.Heap
}

func newDynamoQueued(d *dynamo, p *DynamoQueue) *dynamoQueued {
	return &dynamoQueued{dynamo: d, limit: p.QueueThreshold * float64(p.BatchTokens), order: p.QueueOrder}
}

func (q *dynamoQueued) Route(id int32, v *View) int {
	if q.busy(v) {
		q.queue.Push(heap.Item{Key: q.key(id, v), ID: id})
		v.Believed = -1
		v.Decide("queue")
		return Hold
	}
	return q.dynamo.Route(id, v)
}

// Next implements Queuer.
func (q *dynamoQueued) Next(v *View) int32 {
	if len(q.queue) == 0 || len(v.Up) > 0 && q.busy(v) {
		return workload.None
	}
	return q.queue.Pop().ID
}

// busy reports whether all replicas are above the threshold.
func (q *dynamoQueued) busy(v *View) bool {
	for _, i := range v.Up {
		if float64(q.books.prefill[i]) <= q.limit {
			return false
		}
	}
	return true
}

// key is the place in the queue, least first.
func (q *dynamoQueued) key(id int32, v *View) int64 {
	jump := priorityOf(id, v.Work)
	switch q.order {
	case "fcfs":
		return v.NowNs - jump*1e9
	case "lcfs":
		return -v.NowNs - jump*1e9
	}
	q.belief.match(id, v)
	most := int32(0)
	for _, i := range v.Up {
		most = max(most, q.belief.cached[i])
	}
	uncached := max(1, int64(v.Work.Prompt[id]-most*q.belief.block))
	return uncached * 1e9 / (1 + jump)
}

// priorityOf is how far a request is preferred, at least 0.
func priorityOf(id int32, w *workload.Workload) int64 {
	if w.Priority == nil {
		return 0
	}
	return max(0, int64(w.Priority[id]))
}
