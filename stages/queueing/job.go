package queueing

import (
	"context"
	"math"
	"slices"
	"strings"

	"switchyard/sim/dist"
	"switchyard/sim/queueing"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// Options say how a plan becomes jobs.
type Options struct {
	// Repro returns the command that runs one cell again by itself, for table
	// `failures`; nil gives none.
	Repro func(*Run) string
}

// Jobs returns a job for each of the plan's two grids that has cells: balls,
// then dispatch. A task is a cell.
func Jobs(p *Plan, o Options) (jobs []run.Job) {
	if len(p.Balls) > 0 {
		jobs = append(jobs, job(experiment.Balls, Balls.Placing(p.labelBalls), p.Balls, p.throw, o))
	}
	if len(p.Dispatch) > 0 {
		jobs = append(jobs, job(experiment.Dispatch, Dispatch.Placing(p.labelDispatch), p.Dispatch, p.dispatch, o))
	}
	return jobs
}

// worker is what a worker keeps from cell to cell.
type worker struct {
	sim      queueing.Sim
	balls    [1]BallsRow
	dispatch [1]DispatchRow
}

func job(name string, t table.Definition, runs []Run, do func(*Run, *worker, *run.Sink) error, o Options) run.Job {
	j := run.Job{Name: name, Tables: []table.Definition{t}, NewWorker: func() any { return new(worker) }}
	for i := range runs {
		r := &runs[i]
		task := run.Task{
			Key: r.Key, Index: r.Index, Name: r.Name(), Weight: r.Config.cost(), Tables: []string{name},
			Run: func(_ context.Context, _, own any, out *run.Sink) error { return do(r, own.(*worker), out) },
		}
		if o.Repro != nil {
			task.Repro = o.Repro(r)
		}
		j.Tasks = append(j.Tasks, task)
	}
	return j
}

// cost estimates how long a cell takes, in draws.
func (c *Config) cost() float64 {
	if c.balls != nil {
		return float64(c.balls.Thrown()) * float64(c.balls.Choices)
	}
	return float64(c.study.Traffic.Requests)
}

// throw runs a cell of balls and bins.
func (p *Plan) throw(r *Run, own *worker, out *run.Sink) error {
	b := r.Config.balls
	result, err := b.Run(p.Experiment.Seed, r.Replication)
	if err != nil {
		return err
	}
	row := &own.balls[0]
	*row = BallsRow{
		CellKey: r.Key, Seed: int64(p.Experiment.Seed), Replication: int32(r.Replication),
		Bins: b.Bins, Balls: b.Thrown(), Choices: int32(b.Choices), Replacement: b.Replacement, Growth: finite(b.Growth()),
		Maximum: int32(result.Max), EmptyShare: float64(result.Loads[0]) / float64(b.Bins), Loads: result.Loads,
	}
	row.Theory = "independent throws"
	if b.Choices > 1 {
		row.Theory = "ds/dt = 1 - s^d"
	}
	row.Expected, row.TheoryKind = b.Empty()
	p.labelBalls(row, r.Index)
	out.Write(Balls.Rows(own.balls[:]))
	out.Count(b.Thrown())
	return nil
}

// labelBalls gives a row what depends on the experiment file alone and is no
// part of the cell's key, so that the rows of an earlier run, taken over by
// their key, read as the file stands now.
func (p *Plan) labelBalls(row *BallsRow, index int32) {
	c := p.Balls[index].Config
	row.Cell, row.Config = index, c.Index
	row.Workload, row.WorkloadPoint, row.Factors = c.point.Parts[0].Name, c.WorkloadPoint, c.Factors
}

// dispatch runs a system under a policy.
func (p *Plan) dispatch(r *Run, own *worker, out *run.Sink) error {
	c := r.Config
	result, err := own.sim.Run(c.study, p.Experiment.Seed, r.Replication)
	if err != nil {
		return err
	}
	row := &own.dispatch[0]
	*row = c.row()
	row.CellKey, row.Seed, row.Replication = r.Key, int64(p.Experiment.Seed), int32(r.Replication)
	p.labelDispatch(row, r.Index)
	row.measure(result)
	row.Growth = finite(growth(c.study, result))
	if c.study.System.Discipline != "ps" && !queueing.Reciprocal(c.study.Sizes) {
		row.Slowdown, row.ClassSlowdown[0] = nil, math.NaN()
	}
	out.Write(Dispatch.Rows(own.dispatch[:]))
	out.Count(row.Requests)
	return nil
}

// labelDispatch is labelBalls for the other table.
func (p *Plan) labelDispatch(row *DispatchRow, index int32) {
	c := p.Dispatch[index].Config
	row.Cell, row.Config = index, c.Index
	row.Workload, row.Router = c.point.Part("dispatch").Name, c.point.Part("policy").Name
	row.WorkloadPoint, row.RouterPoint, row.Factors = c.WorkloadPoint, c.RouterPoint, c.Factors
}

// row returns the columns that a configuration knows before it runs.
func (c *Config) row() DispatchRow {
	s := c.study
	law := s.Sizes.Law()
	row := DispatchRow{
		Policy: c.policy.entry.Name, Parameters: c.policy.parameters(),
		Servers: int32(s.System.Servers), Speeds: s.System.Speeds, Discipline: s.System.Discipline,
		Load: s.Load(), Rate: s.Rate(), Arrivals: c.system.arrivals.label, Sizes: c.system.sizes.label,
		SizeMean: law.Mean(), SizeSCV: finite(dist.SCV(law)),
		Information: s.Information.Model, Age: s.Information.Age, Corrections: s.Information.Corrections,
		Dispatchers: int32(s.System.Dispatchers), WarmUp: s.WarmUp, Requests: s.Traffic.Requests,
		Saturated: stability(s) == unstable, Stability: stability(s), Warnings: c.doubts(),
	}
	if _, ok := s.Policy.(*queueing.SITA); ok {
		row.Cutoffs = cutoffs(s)
	}
	if t := &c.theory; t.Kind != queueing.None {
		row.Theory, row.TheoryKind = &t.Model, &t.Kind
		row.TheoryMean, row.TheoryP50, row.TheoryP90 = finite(t.Mean), finite(t.P50), finite(t.P90)
		row.TheoryWait, row.TheorySlow, row.TheoryUsage = finite(t.Wait), finite(t.Slowdown), finite(t.Utilisation)
		row.TheoryP95, row.TheoryP99, row.TheoryP999 = finite(t.P95), finite(t.P99), finite(t.P999)
	}
	return row
}

// cutoffs are those of sita-e.
func cutoffs(s *queueing.Config) []float64 {
	weights := make([]float64, s.System.Servers)
	for i := range weights {
		weights[i] = speed(&s.System, i)
	}
	return queueing.Cutoffs(s.Sizes.Law(), weights)
}

// measure fills in what a run found.
func (r *DispatchRow) measure(x *queueing.Result) {
	r.Measured, r.QuantileError = x.Requests, x.QuantileError
	r.ResponseMean, r.ResponseSD, r.ResponseMax = finite(x.Mean), finite(x.SD), finite(x.Max)
	r.ResponseP50, r.ResponseP90, r.ResponseP95 = finite(x.P50), finite(x.P90), finite(x.P95)
	r.ResponseP99, r.ResponseP999 = finite(x.P99), finite(x.P999)
	r.WaitMean, r.Slowdown, r.Utilisation = finite(x.Wait), finite(x.Slowdown), finite(x.Utilisation)
	r.Realised = finite(x.Load)
	r.Drift = finite(x.Halves[1]/x.Halves[0] - 1)
	r.Imbalance = finite(slices.Max(x.ServerUtilisation) / mean(x.ServerUtilisation))
	for _, c := range x.Classes {
		r.ClassUpTo, r.ClassRequests = append(r.ClassUpTo, c.Upto), append(r.ClassRequests, c.Requests)
		r.ClassMean, r.ClassP99 = append(r.ClassMean, c.Mean), append(r.ClassP99, c.P99)
		r.ClassSlowdown = append(r.ClassSlowdown, c.Slowdown)
	}
	r.ServerCount, r.ServerUsage, r.Lengths = x.ServerRequests, x.ServerUtilisation, x.Lengths
}

func mean(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// parameters are those that are not at their default.
func (p *policy) parameters() string {
	_, text, _ := strings.Cut(p.label, " ")
	return text
}

// finite returns a pointer to a number, or nil where it is none.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
