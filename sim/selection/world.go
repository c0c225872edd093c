package selection

import "errors"

// World is a compound system with its candidates and its labelled questions.
//
// A decision is a module that calls a language model; a voting node is none.
// A candidate of a module is a (model, prompt) pair, known here by its number
// alone: names are the caller's. An allocation holds a candidate a module.
// A world answers the same allocation always the same way, as a system with
// cached answers does, and it belongs to one goroutine.
type World interface {
	// Modules returns the number of decisions, in the order of the graph.
	Modules() int
	// Candidates returns how many candidates a module has.
	Candidates(module int) int
	// Questions returns the number of questions that accuracies are means over.
	Questions() int
	// Scores writes each question's score in [0, 1] under an allocation. Worlds
	// that hold no scores return ErrNoScores; a world that may pay no more
	// returns an error that wraps ErrBudget, and the run ends with what it has.
	Scores(alloc []int32, dst []float32) error
	// Cost returns the mean cost of a question in dollars under an allocation. It
	// may be asked before Scores: a live world then answers from its prices and
	// what it knows of lengths.
	Cost(alloc []int32) (float64, error)
}

// Binary is implemented by worlds whose scores are all 0 or 1.
type Binary interface {
	// Right sets bit q%64 of dst[q/64] where the answer to question q is right,
	// clears the others, and leaves the bits beyond the last question zero.
	Right(alloc []int32, dst []uint64) error
}

// Aggregate is implemented by worlds that hold each allocation's accuracy and
// no question's score, such as a published table. Greedy, random, exhaustive
// and single need no more; the others refuse such a world (ErrNoScores).
type Aggregate interface {
	Accuracy(alloc []int32) (float64, error)
}

// Partial is implemented by worlds that can answer some of the questions for
// less than all of them, such as live ones. Without it an optimiser that looks
// at part of the questions has all of them answered, and counts its part.
type Partial interface {
	// ScoresOf writes the score of questions[i] to dst[i].
	ScoresOf(alloc, questions []int32, dst []float32) error
}

// Counter is implemented by worlds that count right answers of all allocations
// together faster than one by one.
type Counter interface {
	// Counts writes the right answers of every allocation, in the order of
	// Space: the last module's candidate advances fastest.
	Counts(dst []int32) error
}

// Singles is implemented by worlds in which "one model everywhere" is not
// simply the candidate of the same number in each module.
type Singles interface {
	// Singles returns one allocation for each model that can serve all modules.
	Singles() [][]int32
}

// Idle is implemented by worlds whose graph ends in modules without a language
// model, such as the vote of a debate. The released code of LLMSelector
// nominates them too.
type Idle interface {
	// Idle returns how many such modules follow the decisions.
	Idle() int
}

// Culprits is implemented by worlds that know which module failed.
type Culprits interface {
	// Culprits sets the bit of each question whose answer is wrong and where the
	// module itself failed, and clears the others.
	Culprits(alloc []int32, module int, dst []uint64) error
}

// Failures is implemented by worlds that know where a module failed itself,
// whatever became of the answer.
type Failures interface {
	// Failures sets the bit of each question where the module failed itself, and
	// clears the others.
	Failures(alloc []int32, module int, dst []uint64) error
}

// Diagnoser says how far a module is to blame for a wrong answer.
type Diagnoser interface {
	// Blame writes for each question 1 (responsible), 0 (not responsible, or the
	// answer is right) or .5 (cannot tell).
	Blame(alloc []int32, module int, dst []float32) error
}

var (
	// ErrNoScores says that a world holds accuracies alone.
	ErrNoScores = errors.New("the world has each allocation's accuracy and no question's score: take greedy, random, exhaustive or single")
	// ErrBudget says that a world may make no more calls.
	ErrBudget = errors.New("the budget of the world is spent")
	// ErrNoDiagnoser says that an optimiser asks a diagnoser and has none.
	ErrNoDiagnoser = errors.New("no diagnoser: give one, or set alpha to 0 to select by right answers alone")
)
