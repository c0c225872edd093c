package serve

import (
	"context"
	"fmt"

	"switchyard/sim/cluster"
	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// Options say how a plan becomes a job.
type Options struct {
	// Repro returns the command that runs one cell again by itself, for table
	// `failures`; nil gives none.
	Repro func(*Run) string
}

// Jobs returns the stage's job, or none where the plan has no cells.
func Jobs(p *Plan, o Options) []run.Job {
	if len(p.Runs) == 0 {
		return nil
	}
	j := run.Job{
		Name: experiment.Serve, NewWorker: func() any { return new(cluster.Sim) },
		Tables: []table.Definition{
			Served.Placing(func(row *Row, index int32) { p.label(&row.Where, index) }),
			Splits.Placing(func(row *SplitRow, index int32) { p.label(&row.Where, index) }),
		},
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		task := run.Task{
			Key: r.Key, Index: r.Index, Name: r.Name(), Weight: r.Config.cost(),
			Tables: []string{Served.Name, Splits.Name},
			Run: func(ctx context.Context, _, worker any, out *run.Sink) error {
				return p.run(ctx, r, worker.(*cluster.Sim), out)
			},
		}
		if o.Repro != nil {
			task.Repro = o.Repro(r)
		}
		j.Tasks = append(j.Tasks, task)
	}
	return []run.Job{j}
}

// cost estimates how long a cell takes, in questions that are served.
func (c *Config) cost() float64 {
	p := &c.way.params
	return float64(c.Pools()) * float64(p.Questions) * float64(max(1, p.Assignments))
}

// label gives a row what depends on the experiment file alone and is no part of
// the cell's key.
func (p *Plan) label(row *Where, index int32) {
	r := &p.Runs[index]
	c := r.Config
	row.Cell, row.Config = index, c.Index
	row.System, row.World, row.Serving = c.head.System, c.head.World, c.Serving
	row.SystemPoint, row.WorldPoint, row.ServingPoint, row.Factors = c.head.SystemPoint, c.head.WorldPoint, c.ServingPoint, c.Factors
}

// run runs a cell.
func (p *Plan) run(ctx context.Context, r *Run, sim *cluster.Sim, out *run.Sink) error {
	var rows []Row
	var splits []SplitRow
	for k := range r.Config.Pools() {
		where := Where{CellKey: r.Key, Seed: int64(p.Experiment.Seed), Replication: int32(r.Replication), Pool: int32(k + 1)}
		p.label(&where, r.Index)
		stand, err := r.Config.ground.Stand(r.Replication, k)
		if err != nil {
			return err
		}
		some, tried, requests, err := p.pool(ctx, r, sim, stand, where)
		if err != nil {
			return fmt.Errorf("pool %d: %w", k+1, err)
		}
		rows, splits = append(rows, some...), append(splits, tried...)
		out.Count(requests)
	}
	out.Write(Served.Rows(rows))
	out.Write(Splits.Rows(splits))
	return nil
}

// pool serves the contenders of a pool.
func (p *Plan) pool(ctx context.Context, r *Run, sim *cluster.Sim, s *choose.Stand, where Where) (rows []Row, splits []SplitRow, requests int64, err error) {
	seed := p.Experiment.Seed
	contenders, err := r.Config.contenders(ctx, s, seed, r.Replication)
	if err != nil {
		return nil, nil, 0, err
	}
	t, err := r.Config.stage(sim, s, seed, r.Replication, int(where.Pool), p.Experiment.WarmUp)
	if err != nil {
		return nil, nil, 0, err
	}
	var all []*outcome
	for _, k := range contenders {
		o, err := t.serve(ctx, k)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%s: %w", k.text, err)
		}
		all = append(all, o)
		row := t.row(o)
		row.Where, row.Warnings = where, s.Doubts
		rows = append(rows, row)
		for i := range o.splits {
			o.splits[i].Where = where
		}
		splits = append(splits, o.splits...)
	}
	return rows, splits, t.requests, r.Config.way.params.mark(all, rows)
}

// row writes an outcome.
func (t *stage) row(o *outcome) Row {
	p := &t.way.params
	row := Row{
		Assignment: o.text, Rule: o.rule, Single: o.single, GPUs: int32(p.GPUs), Fits: o.fits,
		AccuracyTrain: o.train.accuracy, AccuracyTest: o.test.accuracy,
	}
	for m, used := range o.uses {
		if used {
			row.Models = append(row.Models, t.way.names[m])
		}
	}
	if o.priced {
		row.Dollars = &o.test.dollars
	}
	if !o.fits {
		return row
	}
	row.Split, row.Tried, row.AllTried, row.Used = t.text(o.split), int32(len(o.splits)), o.all, t.used(o.split)
	x, meets := &o.served, p.meets(&o.served)
	row.Mean, row.P50, row.P95, row.P99 = micros(x.Mean), micros(x.P50), micros(x.P95), micros(x.P99)
	row.Within, row.Meets, row.Questions, row.Failed = present(x.Within), &meets, int32(x.Questions), int32(x.Failed)
	row.Calls, row.Busy, row.Hits = o.calls, present(o.busy), present(o.hits)
	row.PlannedMean, row.PlannedP99, row.PlannedWithin = micros(o.planned.Mean), micros(o.planned.P99), present(o.planned.Within)
	return row
}
