package selection

import "switchyard/sim/rng"

// DefaultBudget is the number of evaluations where a problem gives none, as in
// the released code of LLMSelector.
const DefaultBudget = 1_000_000

// Problem is one run of an optimiser.
type Problem struct {
	// World holds the training questions. A *Cache made by NewCache may stand
	// here, so that runs on one world share the answers that they have seen.
	World     World
	Diagnoser Diagnoser   // nil where there is none
	Start     []int32     // first allocation; nil draws one from Stream
	Budget    int         // evaluations; 0 means DefaultBudget
	Dollars   float64     // what the run may spend on answers; 0 means no limit
	Lambda    float64     // accuracy that a dollar a question must bring: value = accuracy - Lambda*cost
	Cap       float64     // dollars a question that an allocation may cost; 0 means no limit
	Stream    *rng.Stream // the run's own
}

// Optimiser looks for a good allocation. It is a pointer to a tagged struct of
// parameters (package sim/param) and keeps nothing between runs.
type Optimiser interface {
	Run(Problem) (Outcome, error)
}

// Asker is implemented by optimisers that may ask a diagnoser.
type Asker interface {
	// Asks says whether they do, with the parameters that they have.
	Asks() bool
}

// Entry is one line of the table of optimisers.
type Entry struct {
	Name, Summary string
	Ties          string // what it does when candidates are equally good
	Stop          string // when it ends
	Source        string
	NeedsScores   bool             // refuses worlds that hold accuracies alone
	Starts        bool             // its result depends on where it starts
	Draws         bool             // it draws at random beside a start: give it a stream
	New           func() Optimiser // parameters, without defaults set
}

// Stop says why a run ended.
type Stop string

// The reasons why a run ends.
const (
	StopConverged Stop = "converged" // its own rule holds
	StopComplete  Stop = "complete"  // it has looked at all that it meant to
	StopBudget    Stop = "budget"    // evaluations or dollars are spent
	StopRounds    Stop = "rounds"    // its cap on rounds
	StopPatience  Stop = "patience"  // no better allocation for so many rounds
)

// Outcome is what a run found and what it cost.
type Outcome struct {
	Assignment []int32
	Accuracy   float64 // of Assignment on the training questions; NaN where it did not answer them all
	Cost       float64 // dollars a question of Assignment
	Converged  bool    // Stop is StopConverged or StopComplete
	Stop       Stop
	Rounds     []Round

	// One budget, counted three ways. An evaluation is one allocation on all
	// questions; parts of the questions count as parts, rounded up at the end.
	Evaluations int // all candidates of all rounds, the paper's K a round
	FirstHit    int // those up to the round in which Assignment first stood
	CodeBudget  int // as the released code counts: K-1 a round, the incumbent being paid

	Distinct       int   // different allocations evaluated: what a cache leaves
	QuestionRuns   int64 // different (allocation, question) pairs answered
	DiagnoserCalls int64 // (allocation, module, question) verdicts asked for
	Dollars        float64
	DollarsNoCache float64 // when each evaluation is paid anew
}

// Round is one decision of a run. Optimisers that compare whole allocations
// have module -1 and votes for none.
type Round struct {
	Module      int       // nominated, or -1; Modules() and beyond are idle ones
	Votes       []int32   // by candidate: questions that approve of it; nil where the rule does not vote
	Values      []float64 // by candidate: accuracy less penalty; nil for an idle module
	Incumbent   int32     // the module's candidate before, -1 with module -1
	Winner      int32     // and after
	Tied        int       // candidates that share the highest count or value
	Evaluations int       // so far, as Outcome.Evaluations counts
	Assignment  []int32   // after the round
}
