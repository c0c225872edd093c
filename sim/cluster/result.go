package cluster

import (
	"math"

	"switchyard/sim/engine"
	"switchyard/sim/workload"
)

// None is the replica of a request that has none.
const None = workload.None

// Status says how a request ended.
type Status uint8

// The ways in which a request ends.
const (
	Pending  Status = iota // only inside a run
	Finished               // it has all its output tokens
	Rejected               // its prompt and output exceed the KV capacity, the queue was full, or no replica took requests
	TimedOut               // it waited too long and left unserved
	Lost                   // its replica failed
)

// String returns the name that tables use.
func (s Status) String() string {
	return [...]string{"pending", "finished", "rejected", "timed-out", "lost"}[s]
}

// Result is what a run leaves, one entry a request in every slice of the upper
// part, all times in nanoseconds. It belongs to its Sim and lasts until the
// next run.
type Result struct {
	ArrivalNs []int64
	engine.Log
	Replica []int32 // None where no replica took it, or took it last
	Status  []Status
	// Believed is the prompt tokens that the router believed to be cached on the
	// replica that it chose; -1 where it had no belief.
	Believed []int32
	// Best is the most prompt tokens that any replica had cached when the
	// request was routed.
	Best []int32
	// Ceiling is the longest prefix, in tokens, that an earlier arrival has as
	// well: what one unlimited cache with no delay would hit. A hit can lie
	// above it only where a waiting order lets a later arrival be served first.
	Ceiling []int32
	// Dispatched is the longest prefix, in tokens, that the request's replica
	// had ever been sent before, outputs that later turns read included: what
	// it would have hit had nothing been evicted and had every prompt and output
	// been cached at dispatch. It is at least Unlimited.
	Dispatched []int32

	Replicas []engine.Stats // over the whole run, until the last request left
	// Window holds the same totals between the arrival of request Config.Cut
	// and the last arrival.
	Window []engine.Stats

	// Duplication is the mean over samples, one every 16 arrivals after the
	// first quarter of the requests, of cached tokens summed over replicas over
	// distinct cached tokens; NaN without a sample.
	Duplication   float64
	WindowStartNs int64
	LastArrivalNs int64
	EndNs         int64 // when the last request left
}

// duplication gathers the samples of Result.Duplication.
type duplication struct {
	sum float64
	n   int
}

func (d *duplication) sample(c *engine.Cache) {
	if all, distinct := c.Totals(); distinct > 0 {
		d.sum += float64(all) / float64(distinct)
		d.n++
	}
}

func (d *duplication) mean() float64 {
	if d.n == 0 {
		return math.NaN()
	}
	return d.sum / float64(d.n)
}
