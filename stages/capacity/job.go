package capacity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"switchyard/stages/aggregate"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// seeker makes the tasks of a job.
type seeker struct {
	*Plan
	dir string

	mu     sync.Mutex
	steps  map[string]step  // tasks by key
	probed map[string]Probe // rows of this run, which need not be stored yet
}

// step is a task's place in its search; a task without a load writes the
// search's row.
type step struct {
	search *Search
	number int32
	load   float64
	last   bracket
	at     Probe // of the greatest load that was carried
}

// Job returns the job of the searches, whose tables go to dir.
func Job(p *Plan, dir string) run.Job {
	s := &seeker{Plan: p, dir: dir, steps: map[string]step{}, probed: map[string]Probe{}}
	j := run.Job{
		Name: "capacity",
		Tables: []table.Definition{
			Capacities.Placing(func(row *Found, index int32) { row.Place(index); p.label(&row.Where) }),
			Probes.Placing(func(row *Probe, index int32) { row.Place(index); p.label(&row.Where) }),
		},
		NewWorker: func() any { return simulate.NewTrial(p.Experiment) },
		Next:      s.next,
	}
	for _, search := range p.Searches {
		j.Tasks = append(j.Tasks, s.probe(step{search: search, load: search.Start, last: unknown()}))
	}
	return j
}

// label gives a row what depends on the experiment file alone.
func (p *Plan) label(row *Where) {
	s := p.Searches[row.Search]
	c := s.Config
	row.Workload, row.Cluster, row.Router = c.Workload.Name, c.Cluster.Name, c.Router.Name
	row.WorkloadPoint, row.ClusterPoint, row.RouterPoint = s.WorkloadPoint, s.ClusterPoint, s.RouterPoint
	row.Factors, row.Axis = s.Factors, s.Axis
}

// key hashes all that decides what a probe comes to.
func (p *Plan) key(s step, what string) string {
	e := p.Experiment
	h := sha256.New()
	fmt.Fprintf(h, "switchyard capacity %d\n%s\nseed=%d replications=%v warm_up=%v slo=%v attainment=%v start=%v\n%s",
		Version, s.search.key, e.Seed, s.search.Replications, e.WarmUp, e.SLO, p.Options.Attainment, s.search.Start, what)
	return hex.EncodeToString(h.Sum(nil))
}

// probe is the task of one load.
func (s *seeker) probe(at step) run.Task {
	search := at.search
	t := run.Task{
		Key: s.key(at, fmt.Sprintf("step=%d load=%v", at.number, at.load)), Index: search.Index*mostProbes + at.number,
		Name:   fmt.Sprintf("%s at %v", search.name(), at.load),
		Weight: float64(search.Config.Workload.Requests() * len(search.Replications)),
		Tables: []string{Probes.Name},
	}
	t.Run = func(ctx context.Context, _, worker any, out *run.Sink) error {
		row, err := s.try(ctx, at, worker.(*simulate.Trial), out)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.probed[t.Key] = row
		s.mu.Unlock()
		out.Write(Probes.Rows([]Probe{row}))
		return nil
	}
	s.mu.Lock()
	s.steps[t.Key] = at
	s.mu.Unlock()
	return t
}

// try runs the configuration at the step's load.
func (s *seeker) try(ctx context.Context, at step, trial *simulate.Trial, out *run.Sink) (Probe, error) {
	c, err := trial.Decode(at.search.point.With("workload", at.search.Axis, at.load))
	if err != nil {
		return Probe{}, err
	}
	var cells []simulate.Cell
	for _, r := range at.search.Replications {
		if err := ctx.Err(); err != nil {
			return Probe{}, err
		}
		cell, err := trial.Run(c, r)
		if err != nil {
			return Probe{}, fmt.Errorf("replication %d: %w", r, err)
		}
		cells = append(cells, cell)
		out.Count(cell.Requests)
	}
	row := Probe{Where: Where{Search: at.search.Index}, Step: at.number, Load: at.load, Replications: int32(len(cells))}
	s.label(&row.Where)
	if row.Saturated, err = aggregate.Saturated(cells); err != nil {
		return Probe{}, err
	}
	row.sum(cells)
	row.Carried = !row.Saturated && row.MeanE2EUs != nil && (s.Options.Attainment == 0 || row.Attainment != nil && *row.Attainment >= s.Options.Attainment)
	b := at.last.with(at.load, row.Carried)
	if b.lo > 0 {
		row.Lo = &b.lo
	}
	if !math.IsInf(b.hi, 1) {
		row.Hi = &b.hi
	}
	return row, nil
}

// sum fills in what the replications come to together.
func (p *Probe) sum(cells []simulate.Cell) {
	var completed, taken, met, arrived, latency, measured float64
	for i := range cells {
		c := &cells[i]
		completed += float64(c.Completed)
		taken += float64(c.Arrived - c.Turned)
		if c.SLOAttainment != nil {
			met += *c.SLOAttainment * float64(c.InWindow)
			arrived += float64(c.InWindow)
		}
		if c.E2EMeanUs != nil {
			latency += *c.E2EMeanUs * float64(c.Measured)
			measured += float64(c.Measured)
		}
	}
	p.Completion, p.Attainment, p.MeanE2EUs = over(completed, taken), over(met, arrived), over(latency, measured)
}

// over returns a / b, or nil where that is nothing.
func over(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	a /= b
	return &a
}

// next implements run.Job.Next: the next load, or the row of a finished search.
func (s *seeker) next(done run.Task) ([]run.Task, error) {
	s.mu.Lock()
	at, isProbe := s.steps[done.Key]
	row, here := s.probed[done.Key]
	s.mu.Unlock()
	if !isProbe {
		return nil, nil
	}
	if !here {
		rows, ok, err := Probes.ReadStored(s.dir, done.Key)
		if err != nil {
			return nil, err
		}
		if !ok || len(rows) != 1 {
			return nil, fmt.Errorf("table %s has %d rows of %s, expected 1: delete the folder and search again", Probes.Name, len(rows), done.Name)
		}
		row = rows[0]
	}
	if row.Carried {
		at.at = row
	}
	at.last = at.last.with(at.load, row.Carried)
	at.number++
	load, more := at.last.next(at.search.Start, s.Options.Tolerance, int(at.number))
	if at.load = load; more {
		return []run.Task{s.probe(at)}, nil
	}
	return []run.Task{s.found(at)}, nil
}

// found is the task that writes what a search has come to.
func (s *seeker) found(at step) run.Task {
	search := at.search
	return run.Task{
		Key: s.key(at, fmt.Sprintf("found tolerance=%v", s.Options.Tolerance)), Index: search.Index,
		Name: search.name(), Weight: 1, Tables: []string{Capacities.Name},
		Run: func(_ context.Context, _, _ any, out *run.Sink) error {
			row := Found{
				Where: Where{Search: search.Index}, Replicas: int32(search.Config.Cluster.Params.Replicas),
				Asked: s.Options.Attainment, Tolerance: s.Options.Tolerance, Seed: int64(s.Experiment.Seed),
				Replications: int32(len(search.Replications)), Iterations: at.number,
			}
			s.label(&row.Where)
			lo, hi := at.last.lo, at.last.hi
			if lo > 0 {
				row.Lo, row.MeanE2EUs, row.Attainment = &lo, at.at.MeanE2EUs, at.at.Attainment
			}
			if !math.IsInf(hi, 1) {
				row.Hi = &hi
			}
			if row.Lo != nil && row.Hi != nil {
				row.Capacity = &lo
			}
			out.Write(Capacities.Rows([]Found{row}))
			return nil
		},
	}
}
