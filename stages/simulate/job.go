package simulate

import (
	"context"
	"fmt"
	"strings"

	"switchyard/sim/cluster"
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// Options say how a plan becomes a job. The zero value makes every workload
// anew.
type Options struct {
	// Dir is the experiment's folder: a workload is read from its table
	// `workload` where that holds it, and made otherwise; "" always makes it.
	Dir string
	// Repro returns the command that runs one cell again by itself, for table
	// `failures`; nil gives none.
	Repro func(*Run) string
}

// input names what the cells of a group share.
type input struct {
	variant     *generate.Variant
	replication int
}

// worker is what a worker keeps from cell to cell.
type worker struct {
	sim       cluster.Sim
	meter     Meter
	requests  []Request
	replicas  []Replica
	timeline  sampler
	decisions decider
	cell      [1]Cell
	bound     bound
}

// Job returns a task for each cell of the plan. The tables it lists depend on
// the experiment's `tables`; a cell is done when all of them hold its key.
func Job(p *Plan, o Options) run.Job {
	t := p.Experiment.Tables
	cells := Cells.Placing(p.label)
	j := run.Job{Name: "simulate", Tables: []table.Definition{cells}, NewWorker: func() any { return new(worker) }}
	if share(t) > 0 {
		j.Tables = append(j.Tables, Requests)
	}
	if t.Replicas {
		j.Tables = append(j.Tables, Replicas)
	}
	if t.Timeline {
		j.Tables = append(j.Tables, Timeline)
	}
	if t.Decisions > 0 {
		j.Tables = append(j.Tables, Decisions)
	}
	var tables []string
	for _, d := range j.Tables {
		tables = append(tables, d.Schema().Name)
	}
	groups := map[input]*run.Group{}
	for i := range p.Runs {
		r := &p.Runs[i]
		in := input{r.Config.Workload, r.Replication}
		g := groups[in]
		if g == nil {
			g = &run.Group{
				Name: fmt.Sprintf("%s / replication %d", r.Config.WorkloadPoint, r.Replication),
				Open: func(context.Context) (any, error) { return open(in, o.Dir) },
			}
			groups[in] = g
		}
		task := run.Task{
			Key: taskKey(r, p.Experiment), Index: r.Index, Name: r.Name(), Weight: cost(r), Group: g, Tables: tables,
			Run: func(_ context.Context, shared, own any, out *run.Sink) error {
				return p.simulate(r, shared.(*workload.Workload), own.(*worker), out)
			},
		}
		if o.Repro != nil {
			task.Repro = o.Repro(r)
		}
		j.Tasks = append(j.Tasks, task)
	}
	return j
}

// open returns the workload of a group.
func open(in input, dir string) (*workload.Workload, error) {
	if dir != "" {
		w, ok, err := generate.FromTable(dir, in.variant, in.replication)
		if err != nil {
			return nil, fmt.Errorf("read workload %s from its table: %w", in.variant.Name, err)
		}
		if ok {
			return w, nil
		}
	}
	w, err := in.variant.Build(in.replication)
	if err != nil {
		return nil, fmt.Errorf("make workload %s: %w", in.variant.Name, err)
	}
	return w, nil
}

// taskKey returns the key under which the rows of a cell are done: its own,
// and what the rows say beside what happened. Another cut, objective or sample
// makes other rows, so that the tables are always those of the file.
func taskKey(r *Run, e *experiment.Experiment) string {
	key := fmt.Sprintf("%s warm_up=%v ttft_ms=%v tpot_ms=%v e2e_ms=%v requests=%v",
		r.Key, e.WarmUp, e.SLO.TTFTMs, e.SLO.TPOTMs, e.SLO.E2EMs, share(e.Tables))
	if e.Tables.Timeline {
		key += fmt.Sprintf(" timeline_interval=%v", e.Tables.Interval)
	}
	if e.Tables.Decisions > 0 {
		key += fmt.Sprintf(" decisions=%v", e.Tables.Decisions)
	}
	return key
}

// cost estimates how long a cell takes, in requests on one replica. What a
// policy that looks at caches does grows with the replicas it looks at.
func cost(r *Run) float64 {
	c := r.Config
	weight := float64(c.Workload.Requests())
	if strings.Contains(c.Router.Policy.Needs, "cache") {
		weight *= 1 + float64(c.Cluster.Params.Replicas)/32
	}
	return weight
}

// simulate runs one cell and writes its rows.
func (p *Plan) simulate(r *Run, w *workload.Workload, own *worker, out *run.Sink) error {
	result, err := p.measure(r, w, own)
	if err != nil {
		return err
	}
	tables := p.Experiment.Tables
	out.Write(Cells.Rows(own.cell[:]))
	if share := share(tables); share > 0 {
		own.requests = appendRequests(own.requests[:0], r.Index, &own.meter, share)
		out.Write(Requests.Rows(own.requests))
	}
	if tables.Replicas {
		own.replicas = appendReplicas(own.replicas[:0], r.Index, result)
		out.Write(Replicas.Rows(own.replicas))
	}
	if tables.Timeline {
		own.timeline.finish(result.EndNs)
		out.Write(Timeline.Rows(own.timeline.rows))
	}
	if tables.Decisions > 0 {
		out.Write(Decisions.Rows(own.decisions.rows))
	}
	out.Count(int64(w.Len()))
	return nil
}

// measure runs one cell and leaves its row and what happened in own.
func (p *Plan) measure(r *Run, w *workload.Workload, own *worker) (*cluster.Result, error) {
	e, c := p.Experiment, r.Config
	config := c.Cluster.Config
	config.Cut = CutAt(e.WarmUp, w.Len())
	if e.Tables.Timeline {
		own.timeline.reset(r.Index, e.Tables.Interval, config.Replicas, config.KVTokens)
		config.Watch = &own.timeline
	}
	config.Sight = c.Router.Sight
	if e.Tables.Decisions > 0 {
		own.decisions.reset(r.Index, c, e.Tables.Decisions)
		config.Decisions = &own.decisions
	}
	result, err := own.sim.Run(config, w, c.Router.Policy.Name, c.Router.Params, e.Seed, r.Replication)
	if err != nil {
		return nil, err
	}
	own.meter.load(w, result)
	metrics := own.meter.Measure(e.WarmUp, e.SLO)
	own.cell[0] = p.cellRow(r)
	own.cell[0].SetMetrics(&metrics)
	own.cell[0].setState(result, c.Cluster.load(&own.meter, &metrics))
	if metrics.Measured == metrics.InWindow {
		own.cell[0].E2EBoundUs = own.bound.of(w, c.Cluster, config.Cut)
	}
	return result, nil
}
