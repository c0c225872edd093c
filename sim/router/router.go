// Package router holds the policies that choose a replica for a request, one
// a file, each with the state that it keeps and the ties that it breaks.
//
// A policy sees a View and nothing else: how many requests it has in flight,
// what the replicas' metrics said when they were last read, and what it
// believes the replicas' caches to hold. How fresh each of these is belongs to
// the view, see Sight. A policy that keeps books of its own, such as an
// approximate tree of what it has sent where, is told what becomes of its
// requests: see Observer and Follower.
//
// Adding a policy is one file with a struct of parameters that implements
// Params, and one line in Policies.
package router

import (
	"math"
	"slices"

	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// View is what a policy may know when it decides. Slices have one entry a
// replica and belong to the view.
type View struct {
	NowNs    int64
	Replicas int
	// Up are the replicas that take requests, in ascending order; never empty.
	Up []int32

	// Requests and Tokens are of this router's own dispatches that have not
	// left: their number, and their prompt and output tokens as far as the
	// output is known. Where Sight.Loads says so they are read from the
	// replicas instead.
	Requests []int32
	Tokens   []int64
	// Gauges are the replicas' metrics as last read; nil where the policy does
	// not read any, see Reader.
	Gauges []Gauge
	// Reads counts how often Gauges were read, by which a policy that corrects
	// them itself knows that they have been overwritten.
	Reads int64
	// Settled is whether Sight.Loads says how metrics are corrected, so that a
	// policy does not do so on its own.
	Settled bool

	KVTokens int64         // KV capacity of a replica
	Cache    *engine.Cache // live
	Events   *Index        // what cache events have told; nil where the policy does not ask, see Subscriber
	Work     *workload.Workload
	Outputs  *Outputs // what is known of the lengths of outputs

	// Believed is set by Route: the prompt tokens that the policy believes to be
	// cached on the replica that it chose, or -1 where it has no belief.
	Believed int32
	// Decision is filled by Route where it is not nil.
	Decision *Decision
}

// IsUp reports whether a replica takes requests.
func (v *View) IsUp(replica int) bool {
	if len(v.Up) == v.Replicas {
		return true
	}
	_, up := slices.BinarySearch(v.Up, int32(replica))
	return up
}

// Gauge is what the metrics of one replica say.
type Gauge struct {
	Waiting  int32 // requests that wait to be admitted
	Running  int32 // requests in the batch
	KVTokens int64 // tokens of the KV cache that running requests hold
	Prefill  int64 // prompt tokens, beyond cached ones, of requests that have no token yet
	Requests int32 // of all routers: dispatched and not left
	Tokens   int64 // prompt and output tokens of those
	// Read is whether a value was ever read. A poll reads all replicas.
	Read bool
}

// Decision is what a policy says of one choice; slices have one entry a replica.
type Decision struct {
	Rule   string       // that decided: affinity, miss, imbalance ...
	Score  []float64    // the policy's own, NaN for a replica that was no candidate; 0 for the candidates of a policy that compares none
	Terms  [3][]float64 // what Score is made of, named by Policy.Terms; NaN without
	Cached []int32      // prompt tokens that the policy believes to be cached there; -1 without a belief
}

// Decide empties the decision that is to be filled, and returns it; nil where
// nobody asks.
func (v *View) Decide(rule string) *Decision {
	d := v.Decision
	if d == nil {
		return nil
	}
	d.Rule = rule
	d.Score = blank(d.Score, v.Replicas)
	for i := range d.Terms {
		d.Terms[i] = blank(d.Terms[i], v.Replicas)
	}
	d.Cached = d.Cached[:0]
	for range v.Replicas {
		d.Cached = append(d.Cached, -1)
	}
	return d
}

// candidates fills the decision of a policy that compares nothing.
func (v *View) candidates(rule string, replicas ...int32) {
	if d := v.Decide(rule); d != nil {
		for _, i := range replicas {
			d.Score[i] = 0
		}
	}
}

func blank(s []float64, n int) []float64 {
	s = s[:0]
	for range n {
		s = append(s, math.NaN())
	}
	return s
}

// Router chooses a replica for each request in order of arrival.
type Router interface {
	// Route returns the replica, one of v.Up, for request id, or Hold, see Queuer.
	Route(id int32, v *View) int
}

// Observer is implemented by routers that are told what becomes of the
// requests that they have routed.
type Observer interface {
	// FirstToken is called when the first output token of a request is out.
	FirstToken(id int32, replica int, v *View)
	// Left is called when a request has finished, was rejected, has timed out
	// or was lost with its replica.
	Left(id int32, replica int, v *View)
}

// Follower is implemented by routers that act when a replica goes or comes.
type Follower interface {
	// Down is called when a replica takes no more requests.
	Down(replica int, v *View)
	// Came is called when a replica comes, or comes back with an empty cache.
	Came(replica int, v *View)
}

// Evictee is implemented by routers that are told what replicas evict from
// their caches, Sight.NoticeMs after it happened.
type Evictee interface {
	// Evicted says that a replica now has so many tokens of a node cached.
	Evicted(replica int, node, tokens int32, v *View)
}

// Hold is what Route returns for a request that the router keeps back.
const Hold = -1

// Queuer is implemented by routers that may keep requests back.
type Queuer interface {
	// Next takes a request off those that are kept back, for which Route is then
	// called again; -1 where none may go. It is asked after the events of each
	// instant until it returns -1. While no replica is up it returns all of them,
	// one after the other: they are rejected, as those that arrive then are.
	Next(v *View) int32
}

// Env is what a policy is built for.
type Env struct {
	Replicas int         // of the cluster
	From, To int         // replicas of the router's pool: from From to before To; all where To is 0
	Random   *rng.Stream // the policy's own
	Work     *workload.Workload
	Step     engine.StepModel // of a replica, for policies that estimate times
	KVTokens int64            // KV capacity of a replica
	Routers  int              // that share the load without seeing each other, at least 1
	Router   int              // which of them this is, from 0
}

// span returns the replicas that the router may ever send to: from the first to
// before the second.
func (e *Env) span() (from, to int) {
	if e.To == 0 {
		return 0, e.Replicas
	}
	return e.From, e.To
}

// pool lists the replicas of span.
func (e *Env) pool() (all []int32) {
	from, to := e.span()
	for i := from; i < to; i++ {
		all = append(all, int32(i))
	}
	return all
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

// Reader is implemented by parameters whose policy reads replicas' metrics.
type Reader interface {
	// Reads returns how. A policy that reads none returns the zero value.
	Reads() Reading
}

// Reading says how metrics are read.
type Reading struct {
	On        bool
	PeriodNs  int64 // between polls, the first at time 0; 0 reads them at each decision
	Corrected bool  // the router adds its own dispatches since the last poll
}

// Subscriber is implemented by parameters whose policy reads View.Events.
type Subscriber interface {
	WantsEvents() bool
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
	Formula       string   // of the choice, in a line
	Needs         string   // what it must know
	Belief        string   // what it believes of caches and how that is kept up
	Staleness     string   // how old what it knows is, as its system ships it
	Terms         []string // names of Decision.Terms
	TieBreak      string
	Source        string // paper and section, or system, version and file; says so where it is not verified against code
	New           func() Params
}

// Policies lists the policies by name.
func Policies() []Policy {
	return []Policy{
		randomPolicy, roundRobinPolicy, leastRequestsPolicy, leastTokensPolicy, powerOfTwoPolicy,
		consistentHashPolicy, prefixAffinityPolicy, prefixThresholdPolicy, cacheAwarePolicy, recordedPolicy,
		sglangCacheAwarePolicy, smgCacheAwarePolicy, vllmRouterCacheAwarePolicy,
		rayPrefixAffinityPolicy, productionStackPrefixPolicy, productionStackLoadPolicy, productionStackSessionPolicy, productionStackKVPolicy,
		vllmRouterKVAwarePolicy, vllmRouterSMetricPolicy,
		sglangBucketPolicy, sglangManualPolicy, sglangPowerOfTwoPolicy, smgLeastLoadPolicy,
		sessionAffinityPolicy, rendezvousPolicy, boundedHashPolicy, kubeAIPrefixHashPolicy, smgPrefixHashPolicy, vllmRouterHashPolicy,
		preblePolicy, prebleCodePolicy,
		vllmDPPolicy, envoyPolicy,
		dynamoPolicy, dynamo03Policy, dynamo01Policy,
		clairvoyantPolicy,
		llmDPolicy, aibrixPrefixCachePolicy, aibrixLeastRequestPolicy, aibrixLeastKVCachePolicy, aibrixVTCPolicy,
		mooncakePolicy, lmetricPolicy, dualMapPolicy,
		trtLoadBalancingPolicy, trtKVCacheAwarePolicy, trtConversationPolicy,
		dynamoTwoTierPolicy, softAffinityPolicy, ramjetPolicy, jsewPolicy,
		aibrixPreblePolicy,
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
