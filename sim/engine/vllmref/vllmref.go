package vllmref

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Request is one request. Its content is a list of tokens, each with an
// identity: tokens of equal identity at equal places after equal tokens are
// what requests share.
type Request struct {
	ArrivalUs int64 // at least 0; requests need not be sorted

	// The first PrefixTokens tokens of the prompt are the first of the group's
	// text, common to all requests of the group whatever their number; the rest
	// is the request's own. PrefixGroup -1 = no group, PrefixTokens is ignored.
	PrefixGroup  int
	PrefixTokens int // 0 to PromptTokens

	PromptTokens int // at least 1, prefix included
	OutputTokens int // at least 1

	// Content gives the prompt token by token, PromptTokens of them, in the
	// place of the prefix group. nil = derived from the group. The numbers are
	// a name space of their own: none equals a token that is derived.
	Content []int64
	// OutputContent gives the output's tokens in the same name space, so that
	// later prompts can repeat them. nil = the request's own.
	OutputContent []int64
}

// Config is the cluster. There are no defaults: what is not set is 0.
type Config struct {
	Replicas int // at least 1; requests go round robin in order of arrival

	// The time of a step in microseconds: base, a request of the step, a prefill
	// token, a token of the contexts that decodes read or add to.
	BaseUs, PerRequestUs, PerPrefillUs, PerContextUs float64

	BlockSize            int // tokens of a block, at least 1
	Blocks               int // blocks of a replica, at least 1
	TokenBudget          int // tokens of a step, at least 1
	MaxSeqs              int // running requests of a replica, at least 1
	LongPrefillThreshold int // prefill tokens of a request in a step; 0 = no bound

	AdmissionDelayUs int64 // from arrival to queue, at least 0
	FrontEndUs       int64 // added to TTFT and E2E, at least 0; moves no clock
}

// Outcome is what became of one request. A rejected one has zeros otherwise.
type Outcome struct {
	TTFTUs       int64 // arrival to the end of the step that emits the first token
	E2EUs        int64 // arrival to the end of the step that emits the last token
	CachedTokens int   // prompt tokens found cached at the first admission
	Preemptions  int
	Rejected     bool // can never fit
}

// Step is one step of one replica, for looking into differences.
type Step struct {
	Replica        int
	StartUs, EndUs int64
	Preempted      []int  // requests, in the order in which they were preempted
	Work           []Work // in the order of scheduling
}

// Work is the part of one request in a step.
type Work struct {
	Request  int // index in the slice given
	Admitted bool
	Cached   int   // tokens hit at this admission
	Context  int   // tokens with KV before the step, hits included
	Tokens   int   // tokens computed
	Prefill  bool  // counts in P, else it is a decode
	Blocks   []int // all blocks of the request in the step, in order of position
}

// Run returns the outcome of each request, in the order given. It fails for a
// field outside the bounds that Config and Request state.
func Run(c Config, requests []Request) ([]Outcome, error) {
	return Trace(c, requests, func(Step) {})
}

// Trace is Run that also shows every step: those of replica 0 in order of
// time, then those of replica 1, and so on.
func Trace(c Config, requests []Request, see func(Step)) ([]Outcome, error) {
	if err := validate(c, requests); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(requests))
	known := contents{}
	replicas := make([]*replica, c.Replicas)
	for i := range replicas {
		replicas[i] = newReplica(c, i, outcomes)
	}
	for turn, i := range arrivalOrder(requests) {
		r := requests[i]
		if blocksFor(r.PromptTokens+r.OutputTokens, c.BlockSize) > c.Blocks {
			outcomes[i].Rejected = true
			continue
		}
		to := replicas[turn%c.Replicas]
		to.arrivals = append(to.arrivals, newSequence(i, r, known.ofBlocks(tokens(i, r), c.BlockSize)))
	}
	for _, r := range replicas {
		r.run(see)
	}
	return outcomes, nil
}

// arrivalOrder returns the indices of the requests in order of arrival.
func arrivalOrder(requests []Request) []int {
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(requests[a].ArrivalUs, requests[b].ArrivalUs)
	})
	return order
}

// blocksFor is how many blocks hold n tokens.
func blocksFor(n, blockSize int) int { return (n + blockSize - 1) / blockSize }

func validate(c Config, requests []Request) error {
	for _, f := range []struct {
		name         string
		value, least int64
	}{
		{"Replicas", int64(c.Replicas), 1},
		{"BlockSize", int64(c.BlockSize), 1},
		{"Blocks", int64(c.Blocks), 1},
		{"TokenBudget", int64(c.TokenBudget), 1},
		{"MaxSeqs", int64(c.MaxSeqs), 1},
		{"LongPrefillThreshold", int64(c.LongPrefillThreshold), 0},
		{"AdmissionDelayUs", c.AdmissionDelayUs, 0},
		{"FrontEndUs", c.FrontEndUs, 0},
	} {
		if f.value < f.least {
			return fmt.Errorf("config: %s is %d, must be at least %d", f.name, f.value, f.least)
		}
	}
	for i, us := range []float64{c.BaseUs, c.PerRequestUs, c.PerPrefillUs, c.PerContextUs} {
		if !(us >= 0) || math.IsInf(us, 0) {
			name := []string{"BaseUs", "PerRequestUs", "PerPrefillUs", "PerContextUs"}[i]
			return fmt.Errorf("config: %s is %v, must be finite and at least 0", name, us)
		}
	}
	for i, r := range requests {
		if err := r.validate(); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	return nil
}

func (r Request) validate() error {
	switch {
	case r.ArrivalUs < 0:
		return fmt.Errorf("ArrivalUs is %d, must be at least 0", r.ArrivalUs)
	case r.PromptTokens < 1:
		return fmt.Errorf("PromptTokens is %d, must be at least 1", r.PromptTokens)
	case r.OutputTokens < 1:
		return fmt.Errorf("OutputTokens is %d, must be at least 1", r.OutputTokens)
	case r.PrefixGroup < -1:
		return fmt.Errorf("PrefixGroup is %d, must be at least 0, or -1 for none", r.PrefixGroup)
	case r.PrefixGroup >= 0 && (r.PrefixTokens < 0 || r.PrefixTokens > r.PromptTokens):
		return fmt.Errorf("PrefixTokens is %d, must be from 0 to PromptTokens = %d", r.PrefixTokens, r.PromptTokens)
	case r.Content != nil && len(r.Content) != r.PromptTokens:
		return fmt.Errorf("Content has %d tokens, must have PromptTokens = %d", len(r.Content), r.PromptTokens)
	case r.OutputContent != nil && len(r.OutputContent) != r.OutputTokens:
		return fmt.Errorf("OutputContent has %d tokens, must have OutputTokens = %d", len(r.OutputContent), r.OutputTokens)
	}
	return nil
}
