package choose

import (
	"switchyard/sim/cascade"
	"switchyard/sim/compound"
	"switchyard/stages/experiment"
)

// drawn is a world whose models and questions are drawn, or fixed by the house.
type drawn struct{ params compound.WorldParams }

func openDrawn(_ experiment.Section, params any) (source, error) {
	return drawn{params.(compound.WorldParams)}, nil
}

func (d drawn) key() string { return canonical(d.params) }

func (d drawn) drawn() bool {
	_, fixed := d.params.(*compound.CaseStudy)
	return !fixed
}

func (d drawn) pools() int { return d.params.Many() }

// few is the world with one question, for what does not depend on questions:
// a plan need not answer millions.
func (d drawn) few() compound.WorldParams {
	switch p := d.params.(type) {
	case *compound.Toy:
		one := *p
		one.Train, one.Test = 1, 1
		return &one
	case *compound.CaseStudyRandom:
		one := *p
		one.Train, one.Test = 1, 1
		return &one
	}
	return d.params
}

// check builds a first pool.
func (d drawn) check(sys *system, s experiment.Section) error {
	if _, err := d.few().Build(sys.graph, compound.Env{}); err != nil {
		if _, _, ok := moduleAt(sys.at, err); ok {
			s = sys.at
		}
		return misfit(s, "world", err)
	}
	return nil
}

func (d drawn) able(sys *system) able {
	can := able{scores: true, culprits: true, outcomes: len(sys.graph.Decisions()) == 1}
	split, err := d.few().Build(sys.graph, compound.Env{})
	if err != nil {
		return can // check has said so
	}
	can.free = !split.Train.Priced()
	if can.outcomes {
		models := labels(split.Train)[0]
		can.example = &cascade.Table{Models: models, Score: make([]float32, len(models))}
		if !can.free {
			can.example.Cost = make([]float32, len(models))
		}
	}
	return can
}

// names are those of any pool: the models are called alike in all of them.
func (d drawn) names(sys *system) (modules []string, candidates [][]string) {
	split, err := d.few().Build(sys.graph, compound.Env{})
	if err != nil {
		return nil, nil // check has said so
	}
	return sys.graph.DecisionNames(), labels(split.Train)
}

func labels(w *compound.World) [][]string {
	all := make([][]string, w.Modules())
	for m := range all {
		for c := range w.Candidates(m) {
			all[m] = append(all[m], w.Label(m, int32(c)))
		}
	}
	return all
}

// mostPools bounds the pools of a replication, so that no two replications
// share one.
const mostPools = 100_000

// pool draws models and questions anew in each replication: pools are
// independent of each other, whichever replication they are of.
func (d drawn) pool(sys *system, at sample) (*pool, error) {
	split, err := d.params.Build(sys.graph, compound.Env{
		Seed: at.seed, Replication: at.replication, Pool: (at.replication-1)*mostPools + at.pool - 1,
	})
	if err != nil {
		return nil, err
	}
	w := split.Train
	p := &pool{modules: sys.graph.DecisionNames(), candidates: labels(w), train: w, test: split.Test, priced: w.Priced()}
	if !d.drawn() {
		p.test = nil // the same questions
		p.doubts = append(p.doubts, sameQuestions)
	}
	for m := range p.candidates {
		models := make([]int32, len(p.candidates[m]))
		for c := range models {
			models[c] = w.Candidate(m, int32(c)).Model
			train, test := w.Succeeds(m, int32(c)), split.Test.Succeeds(m, int32(c))
			a := ability{module: p.modules[m], skill: w.Skill(m), candidate: p.candidates[m][c], train: &train, test: &test}
			if chance, ok := w.Ability(m, int32(c)); ok {
				a.chance = &chance
			}
			if p.priced {
				cost := w.CostOf(m, int32(c))
				a.cost = &cost
			}
			p.abilities = append(p.abilities, a)
		}
		p.models = append(p.models, models)
	}
	if w.Modules() == 1 {
		p.outcomes, err = outcomesOf(p, split)
	}
	return p, err
}

// sameQuestions is the doubt about replications of fixed questions.
const sameQuestions = "all replications have the same questions, which also judge what was chosen on them: intervals are of starts and draws alone"

// outcomesOf writes out what the models of a system of one module answer.
func outcomesOf(p *pool, split compound.Split) (*recordedOutcomes, error) {
	write := func(w *compound.World) (*cascade.Table, error) {
		n, models := w.Questions(), w.Candidates(0)
		t := &cascade.Table{Models: p.candidates[0], Score: make([]float32, n*models)}
		if p.priced {
			t.Cost = make([]float32, n*models)
		}
		scores := make([]float32, n)
		for k := range models {
			if err := w.Scores([]int32{int32(k)}, scores); err != nil {
				return nil, err
			}
			for q, s := range scores {
				t.Score[q*models+k] = s
				if p.priced {
					t.Cost[q*models+k] = float32(w.CostOf(0, int32(k)))
				}
			}
		}
		return t, nil
	}
	var o recordedOutcomes
	var err error
	if o.train, err = write(split.Train); err != nil {
		return nil, err
	}
	o.test, err = write(split.Test)
	return &o, err
}
