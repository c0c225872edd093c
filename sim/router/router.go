// Package router holds the policies that choose a replica for a request, one
// a file, each with the state that it keeps and the ties that it breaks.
//
// A policy sees a View: its own dispatches in flight, at once, and the engines'
// caches as they stand after each replica's last finished step. A prefix
// counts as held by a replica when it is cached there (belief ready), or also
// while an unfinished request with it is there (belief dispatched, the
// default: inserted at dispatch).
//
// Adding a policy is one file with a struct of parameters that implements
// Params, and one line in Policies.
package router

import (
	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// View is what a policy may know when it decides.
type View struct {
	Replicas int
	Requests []int32 // by replica: dispatched and not finished
	Tokens   []int64 // by replica: prompt and output tokens of those
	Cache    *engine.Cache
	Work     *workload.Workload
}

// Router chooses a replica for each request in order of arrival.
type Router interface {
	// Route returns the replica, in [0, v.Replicas), for request id.
	Route(id int32, v *View) int
}

// Env is what a policy is built for.
type Env struct {
	Replicas int
	Random   *rng.Stream // the policy's own
}

// Params are the parameters of a policy: a pointer to a tagged struct.
type Params interface {
	Build(Env) Router
}

// Prefixed is implemented by parameters whose policy looks at prefixes that are
// on their way; for the others no one keeps track of them.
type Prefixed interface {
	WantsPrefixes() bool
}

// Checked is implemented by parameters whose policy does not go with every
// workload.
type Checked interface {
	// Check says why the policy cannot route w over so many replicas.
	Check(w *workload.Workload, replicas int) error
}

// Policy is one entry of the table of policies.
type Policy struct {
	Name, Summary string
	Needs         string // what it must know
	TieBreak      string
	Source        string
	New           func() Params // parameters, without defaults set
}

// Policies lists the policies by name.
func Policies() []Policy {
	return []Policy{
		randomPolicy, roundRobinPolicy, leastRequestsPolicy, leastTokensPolicy, powerOfTwoPolicy,
		consistentHashPolicy, prefixAffinityPolicy, prefixThresholdPolicy, cacheAwarePolicy, recordedPolicy,
	}
}

// Find returns the policy of that name.
func Find(name string) (Policy, bool) {
	for _, p := range Policies() {
		if p.Name == name {
			return p, true
		}
	}
	return Policy{}, false
}
