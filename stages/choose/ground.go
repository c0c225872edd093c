package choose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"switchyard/sim/cascade"
	"switchyard/sim/compound"
	"switchyard/sim/selection"
)

// Ground is a system in a world as later stages take it: what optimisers choose
// from, and what they choose.
type Ground struct {
	plan    *Plan
	setting *setting
}

// Grounds lists the systems in worlds of a plan, in the order of the grid.
func (p *Plan) Grounds() []Ground {
	all := make([]Ground, len(p.settings))
	for i, s := range p.settings {
		all[i] = Ground{p, s}
	}
	return all
}

// Name says to a person which it is.
func (g Ground) Name() string { return g.setting.name() }

// Label writes what the file says of it.
func (g Ground) Label(row *Setting) { (&occasion{setting: g.setting}).label(row) }

// Graph returns the system.
func (g Ground) Graph() *compound.Graph { return g.setting.system.graph }

// Candidates returns the names of the decisions, and of the candidates of each.
func (g Ground) Candidates() (modules []string, candidates [][]string) {
	return g.setting.world.source.names(g.setting.system)
}

// Pools returns how many pools of candidates a replication has.
func (g Ground) Pools() int { return g.setting.world.source.pools() }

// Chosen says all that decides what Stand.Found returns, but seed and
// replication: the system, the world and the optimisers.
func (g Ground) Chosen() []string {
	parts := slices.Clone(g.setting.parts)
	for _, c := range g.configs() {
		parts = append(parts, c.optimiser.key)
	}
	return parts
}

// configs lists the configurations of the ground's optimisers.
func (g Ground) configs() (all []*Config) {
	for i := range g.plan.Runs {
		if c := g.plan.Runs[i].Config; c.setting == g.setting && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// Stand is one pool of a ground. It belongs to one goroutine.
type Stand struct {
	Train, Test selection.World // the same where there are no other questions
	Candidates  [][]string      // by module
	Priced      bool
	Doubts      []string

	ground Ground
	pool   *pool
	known  *survey
	at     sample
}

// Stand makes pool k of a replication, from 0.
func (g Ground) Stand(replication, k int) (*Stand, error) {
	at := g.plan.sampleOf(replication, k)
	p, err := g.setting.world.source.pool(g.setting.system, at)
	if err != nil {
		return nil, fmt.Errorf("pool %d: %w", at.pool, err)
	}
	known, err := look(p)
	if err != nil {
		return nil, fmt.Errorf("pool %d: %w", at.pool, err)
	}
	return &Stand{Train: p.train, Test: p.last(), Candidates: p.candidates, Priced: p.priced, Doubts: p.doubts, ground: g, pool: p, known: known, at: at}, nil
}

// Text writes an assignment.
func (s *Stand) Text(alloc []int32) string { return s.pool.text(alloc) }

// Judge returns a function that writes the score of each question of a world
// and returns their mean; the scores are none where a world has only means.
func Judge(w selection.World) func(alloc []int32) (mean float64, err error) {
	return newJudge(w).accuracy
}

// Outcomes are what the candidates of a module do on each question where the
// other modules have what an assignment gives them.
type Outcomes struct {
	// Module has 1 where the candidate does the module's part, what a scorer of
	// its output could see, with what it costs; System what the system scores.
	Module, System *cascade.Table
}

// Outcomes returns the outcomes at a module, for rules that choose for each
// question. Where models were recorded, tables are as they are, with what is
// known of the questions, and the module is the system.
func (s *Stand) Outcomes(alloc []int32, module int) (train, test Outcomes, err error) {
	if o := s.pool.outcomes; o != nil {
		return Outcomes{o.train, o.train}, Outcomes{o.test, o.test}, nil
	}
	if train, err = s.outcomes(s.Train, alloc, module); err != nil {
		return train, test, err
	}
	test, err = s.outcomes(s.Test, alloc, module)
	return train, test, err
}

// parts is implemented by worlds that know what each module does and costs.
type parts interface {
	selection.World
	Failures(alloc []int32, module int, dst []uint64) error
	CostOf(module int, candidate int32) float64
}

func (s *Stand) outcomes(world selection.World, alloc []int32, module int) (o Outcomes, err error) {
	w, ok := world.(parts)
	if !ok {
		return o, errors.New("the world does not know what a module does on a question")
	}
	n, models := w.Questions(), len(s.Candidates[module])
	o.Module = &cascade.Table{Models: s.Candidates[module], Score: make([]float32, n*models)}
	o.System = &cascade.Table{Models: s.Candidates[module], Score: make([]float32, n*models)}
	if s.Priced {
		o.Module.Cost = make([]float32, n*models)
		o.System.Cost = o.Module.Cost
	}
	alloc = slices.Clone(alloc)
	scores, fails := make([]float32, n), make([]uint64, (n+63)/64)
	for k := range models {
		alloc[module] = int32(k)
		if err := errors.Join(w.Scores(alloc, scores), w.Failures(alloc, module, fails)); err != nil {
			return o, err
		}
		for q, score := range scores {
			at := q*models + k
			o.System.Score[at], o.Module.Score[at] = score, float32(^fails[q>>6]>>(q&63)&1)
			if s.Priced {
				o.Module.Cost[at] = float32(w.CostOf(module, int32(k)))
			}
		}
	}
	return o, nil
}

// RulesWork reports whether rules that choose for each question can stand at
// modules there.
func (g Ground) RulesWork() bool {
	able := g.setting.world.source.able(g.setting.system)
	return able.outcomes || able.culprits && !able.paid
}

// Paid reports whether answers cost money, so that nothing should be asked that
// the optimisers have not.
func (g Ground) Paid() bool { return g.setting.world.source.able(g.setting.system).paid }

// Singles are the assignments of one model to all modules.
func (s *Stand) Singles() [][]int32 { return s.pool.singles() }

// Front lists the assignments that are best for their cost on the training
// questions, the cheapest first; none where the space is too large. Without
// prices that is the optimum alone.
func (s *Stand) Front() ([][]int32, error) {
	if s.known.optimum == nil {
		return nil, nil
	}
	if !s.Priced {
		return [][]int32{s.known.optimum.alloc}, nil
	}
	order, err := frontier(s.pool, s.known)
	all := make([][]int32, len(order))
	for i, number := range order {
		all[i] = make([]int32, len(s.Candidates))
		s.known.space.At(uint64(number), all[i])
	}
	return all, err
}

// Found runs the optimisers of the file and returns what each chose, from its
// first start, without those that choose for each question anew.
func (s *Stand) Found(ctx context.Context) (all [][]int32, err error) {
	for i := range s.ground.plan.Runs {
		r := &s.ground.plan.Runs[i]
		c := r.Config
		if c.setting != s.ground.setting || r.Replication != s.at.replication || c.optimiser.rule.PerQuestion() {
			continue
		}
		b := &batch{plan: s.ground.plan, run: r}
		if err := b.search(ctx, s.pool, s.known, s.at); err != nil {
			return nil, err
		}
		all = append(all, b.selections[0].Candidates)
	}
	return all, nil
}
