package engine

import "switchyard/sim/workload"

// Replica is one replica of a cluster under some scheduler. Its driver calls
// Enqueue when a request arrives, End when the step's time has come, and Form
// after all that happens at one instant. Nothing in it allocates once its
// slices have grown.
type Replica interface {
	// Reset prepares the replica for a run.
	Reset(Setup)
	// Fits reports whether the replica takes the request that arrives now: it
	// could be served at some time, and the queue has room for it. One that it
	// does not take must not be enqueued.
	Fits(id int32) bool
	// Enqueue takes a request that arrives now, and reports whether the
	// replica must be formed at this instant. It may bring EndNs forward.
	Enqueue(id int32, now int64) (form bool)
	// Form starts a step at now, or leaves the replica idle; it does nothing
	// in the middle of a step.
	Form(now int64)
	// EndNs returns when the current step ends, Never when the replica is idle.
	EndNs() int64
	// End completes the step at EndNs and returns the requests that left in it,
	// finished or, where the log says so, timed out; the slice is valid until
	// the next call.
	End() []int32
	// Started returns the requests whose first token came out in the step that
	// End completed last; valid as long as what End returned.
	Started() []int32
	// Gauges returns what its metrics say at now.
	Gauges(now int64) Gauges
	// Stats returns the totals up to now, which is not before the last call of
	// any method.
	Stats(now int64) Stats
}

// Setup is what a replica runs with.
type Setup struct {
	Index    int // of the replica in its cluster
	Params   Params
	Step     StepModel
	KVTokens int64 // capacity of its KV cache
	Cache    *Cache
	Work     *workload.Workload
	Log      *Log
	Random   uint64 // base of what the engine makes up, by request
}

// Params are the parameters of a scheduler: a pointer to a tagged struct.
type Params interface {
	// NewReplica returns a replica under this scheduler, to be Reset.
	NewReplica() Replica
	// Rules returns how the scheduler's KV cache works.
	Rules() Rules
}

// Rules say how a KV cache works.
type Rules struct {
	Evict   string // see Lecture.Evict
	Private bool   // the private rest of a prompt is cached as well

	HostTokens int64 // see HostTier

	Block int32 // tokens of a block of a cache that the replica keeps itself; 0 for Cache, token by token

	// FrontEndNs is added to the times of a request's first and last token when
	// all is over: time outside the engine, which no clock of the run sees.
	FrontEndNs int64
}

// Sized is implemented by parameters that have a say in the KV capacity.
type Sized interface {
	// KVTokens returns the capacity of a replica whose memory holds so many tokens.
	KVTokens(memory int64) int64
}

// Scheduler is one entry of the table of schedulers.
type Scheduler struct {
	Name, Summary, Source string
	New                   func() Params // parameters, without defaults set
}

// Schedulers lists the schedulers.
func Schedulers() []Scheduler {
	return []Scheduler{lectureScheduler, vllmScheduler, sglangScheduler, prebleScheduler}
}

// FindScheduler returns the scheduler of that name.
func FindScheduler(name string) (Scheduler, bool) {
	for _, s := range Schedulers() {
		if s.Name == name {
			return s, true
		}
	}
	return Scheduler{}, false
}
