package choose

import (
	"switchyard/sim/cascade"
	"switchyard/sim/compound"
	"switchyard/sim/selection"
	"switchyard/stages/experiment"
)

// WorldKind is one entry of the table of worlds.
type WorldKind struct {
	Name, Summary string
	Source        string
	New           func() any // parameters, a pointer to a tagged struct, without defaults set

	// open reads what the world is made of; s is where the parameters stand.
	open func(s experiment.Section, params any) (source, error)
}

// WorldKinds lists the worlds by name: those that package compound makes,
// recorded and live ones.
func WorldKinds() []WorldKind {
	var kinds []WorldKind
	for _, k := range compound.Kinds() {
		kinds = append(kinds, WorldKind{Name: k.Name, Summary: k.Summary, Source: k.Source, New: func() any { return k.New() }, open: openDrawn})
	}
	return append(kinds, recordedKind, liveKind)
}

// source makes the pools of a world. It is shared by all tasks and not written
// to after the plan.
type source interface {
	// key is all that decides what the pools are, but system and streams.
	key() string
	// drawn reports whether replications differ.
	drawn() bool
	// pools is how many there are in each of them.
	pools() int
	// check says whether the system can be asked there; s is the world's.
	check(sys *system, s experiment.Section) error
	// able says what optimisers can ask there.
	able(sys *system) able
	// names are the decisions of the system, and the candidates of each.
	names(sys *system) (modules []string, candidates [][]string)
	// pool makes a pool; it belongs to one goroutine.
	pool(sys *system, at sample) (*pool, error)
}

// able is what a world can be asked.
type able struct {
	scores   bool // of single questions
	culprits bool // which module failed
	outcomes bool // of each model on each question, in a system of one module
	paid     bool // answers cost money: nothing is asked beyond what optimisers ask
	free     bool // nothing has a price

	// example has the models, columns and costs on which rules that choose for
	// each question will be fitted; set where outcomes is.
	example *cascade.Table
}

// sample says which of the independent pools of an experiment is meant.
type sample struct {
	seed              uint64
	replication, pool int // from 1
}

// pool is a world with its candidates: what an optimiser runs on.
type pool struct {
	modules    []string
	candidates [][]string // by module
	models     [][]int32  // by module and candidate: the model, whatever its prompt
	train      selection.World
	test       selection.World // nil where there are no other questions
	abilities  []ability
	priced     bool
	outcomes   *recordedOutcomes // nil where rules that choose for each question cannot work
	doubts     []string
	paid       bool                // as able.paid
	diagnoser  selection.Diagnoser // nil: an oracle
	after      func() []string     // doubts that are known after a run; nil where there are none
}

// ability is what a candidate can do at a module, for table pools.
type ability struct {
	module, candidate, skill string
	chance                   *float64 // known before any question
	train, test              *float64 // share of the questions
	cost                     *float64 // dollars a question
}

// recordedOutcomes are what is known of models on questions.
type recordedOutcomes struct{ train, test *cascade.Table }
