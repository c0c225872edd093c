package choose

import (
	"context"
	"fmt"
	"math"
	"sync"

	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// Names of the stage's jobs.
const (
	SettingsJob = "settings"        // what is known of systems and worlds
	CellsJob    = experiment.Choose // the runs of the optimisers
)

// Options say how a plan becomes jobs.
type Options struct {
	// Repro returns the command that runs one cell again by itself, for table
	// `failures`; nil gives none.
	Repro func(*Run) string
	// Again is the command that runs the settings again.
	Again string
}

// Jobs returns the stage's two jobs, or none where the plan has no cells: the
// settings, then the cells.
func Jobs(p *Plan, o Options) []run.Job {
	if len(p.Runs) == 0 {
		return nil
	}
	return []run.Job{p.settingsJob(o), p.cellsJob(o)}
}

// group is what the cells of a setting share in a replication.
type group struct {
	setting *setting
	at      sample
	pools   []shared
}

// shared is what is known of a pool; whoever needs it first finds it out.
type shared struct {
	once   sync.Once
	survey *survey
	err    error
}

// look returns what is known of pool k of the group, from 0.
func (g *group) look(k int, p *pool) (*survey, error) {
	s := &g.pools[k]
	s.once.Do(func() { s.survey, s.err = look(p) })
	return s.survey, s.err
}

// sampleOf is a pool of a replication, from 0.
func (p *Plan) sampleOf(replication, k int) sample {
	return sample{seed: p.Experiment.Seed, replication: replication, pool: k + 1}
}

func (p *Plan) cellsJob(o Options) run.Job {
	label := func(row *Where, index int32) { p.label(row, index) }
	j := run.Job{Name: CellsJob, Tables: []table.Definition{
		Selections.Placing(func(row *SelectionRow, index int32) { label(&row.Where, index) }),
		Rounds.Placing(func(row *RoundRow, index int32) { label(&row.Where, index) }),
		Pareto.Placing(func(row *ParetoRow, index int32) { label(&row.Where, index) }),
	}}
	type place struct {
		setting     *setting
		replication int
	}
	groups := map[place]*run.Group{}
	for i := range p.Runs {
		r := &p.Runs[i]
		at := place{r.Config.setting, r.Replication}
		if groups[at] == nil {
			groups[at] = &run.Group{Name: r.Config.setting.name(), Open: func(context.Context) (any, error) {
				return &group{setting: at.setting, pools: make([]shared, at.setting.world.source.pools())}, nil
			}}
		}
		task := run.Task{
			Key: r.Key, Index: r.Index, Name: r.Name(), Weight: r.Config.cost(), Group: groups[at],
			Tables: []string{Selections.Name, Rounds.Name, Pareto.Name},
			Run: func(ctx context.Context, shared, _ any, out *run.Sink) error {
				return p.run(ctx, r, shared.(*group), out)
			},
		}
		if o.Repro != nil {
			task.Repro = o.Repro(r)
		}
		j.Tasks = append(j.Tasks, task)
	}
	return j
}

// cost estimates how long a cell takes, in evaluations: those that confirm a
// choice, from each start.
func (c *Config) cost() float64 {
	_, candidates := c.setting.world.source.names(c.setting.system)
	all, starts := 1.0, float64(max(1, c.setting.world.use.Starts))
	sum := 0.0
	for _, of := range candidates {
		all *= float64(len(of))
		sum += float64(len(of))
	}
	if c.setting.world.use.Starts == 0 {
		starts = all
	}
	return float64(c.Pools()) * starts * sum
}

// label gives a row what depends on the experiment file alone and is no part of
// the cell's key, so that the rows of an earlier run, taken over by their key,
// read as the file stands now.
func (p *Plan) label(row *Where, index int32) {
	r := &p.Runs[index]
	c := r.Config
	row.Cell, row.Config = index, c.Index
	row.System, row.World, row.Optimiser = c.setting.systemName, c.setting.worldName, c.point.Part("optimiser").Name
	row.SystemPoint, row.WorldPoint, row.OptimiserPoint, row.Factors = c.SystemPoint, c.WorldPoint, c.OptimiserPoint, c.Factors
}

// run runs a cell: its optimiser in each pool, from each start.
func (p *Plan) run(ctx context.Context, r *Run, g *group, out *run.Sink) error {
	c := r.Config
	b := &batch{plan: p, run: r}
	for k := range c.Pools() {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := p.sampleOf(r.Replication, k)
		pool, err := c.setting.world.source.pool(c.setting.system, at)
		if err != nil {
			return fmt.Errorf("pool %d: %w", at.pool, err)
		}
		known, err := g.look(k, pool)
		if err != nil {
			return fmt.Errorf("pool %d: %w", at.pool, err)
		}
		if c.optimiser.rule.PerQuestion() {
			err = b.route(pool, known, at)
		} else {
			err = b.search(ctx, pool, known, at)
		}
		if err != nil {
			return fmt.Errorf("pool %d: %w", at.pool, err)
		}
	}
	out.Write(Selections.Rows(b.selections))
	if len(b.rounds) > 0 {
		out.Write(Rounds.Rows(b.rounds))
	}
	if len(b.pareto) > 0 {
		out.Write(Pareto.Rows(b.pareto))
	}
	out.Count(b.evaluations)
	return nil
}

// batch collects the rows of a cell.
type batch struct {
	plan *Plan
	run  *Run

	selections  []SelectionRow
	rounds      []RoundRow
	pareto      []ParetoRow
	evaluations int64
}

// where is the head of the cell's rows.
func (b *batch) where(at sample) Where {
	w := Where{CellKey: b.run.Key, Seed: int64(at.seed), Replication: int32(at.replication), Pool: int32(at.pool)}
	b.plan.label(&w, b.run.Index)
	return w
}

// finite returns a pointer to a number, or nil where it is none.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
