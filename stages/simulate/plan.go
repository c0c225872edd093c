package simulate

import (
	"fmt"
	"math"
	"slices"

	"switchyard/stages/experiment"
	"switchyard/stages/generate"
)

// Config is a configuration: a point of the grid, that is a cell without its
// replication.
type Config struct {
	Index    int32
	Workload *generate.Variant
	Cluster  *Cluster
	Router   *Router
	Factors  map[string]string // every swept value

	// The variants' names with their own swept values: "tool rate_rps=4".
	WorkloadPoint, ClusterPoint, RouterPoint string

	point *experiment.Point
}

// Run is a cell as it is planned.
type Run struct {
	Index       int32  // position in the grid
	Key         string // see Cell.CellKey
	Config      *Config
	Replication int
}

// Name says to a person which cell it is.
func (r *Run) Name() string {
	c := r.Config
	return fmt.Sprintf("%s / %s / %s / replication %d", c.WorkloadPoint, c.ClusterPoint, c.RouterPoint, r.Replication)
}

// Plan is all cells of an experiment, in order.
type Plan struct {
	Experiment *experiment.Experiment
	Configs    []*Config
	Runs       []Run               // configurations in order, replication fastest
	Workloads  []*generate.Variant // each one once, in order of first use
}

// NewPlan decodes an experiment's points and crosses them with its
// replications. A workload that is the same in all of them (a trace without
// resampling) has only the first: more would repeat it and say nothing. The
// error joins everything that is wrong with the points, each thing once.
func NewPlan(e *experiment.Experiment) (*Plan, error) {
	points := e.Points[experiment.Simulate]
	if cells := len(points) * len(e.Replications); cells > math.MaxInt32 {
		return nil, fmt.Errorf("%s: the grid has %d cells, expected at most %d", e.Name, cells, math.MaxInt32)
	}
	p := &Plan{Experiment: e}
	d := newDecoder(e)
	for i := range points {
		p.Configs = append(p.Configs, d.config(&points[i]))
	}
	if len(d.errs) == 0 {
		d.distinct(p.Configs)
	}
	if err := experiment.Join(d.errs...); err != nil {
		return nil, err
	}
	p.Workloads = d.order
	for _, c := range p.Configs {
		for _, r := range c.Workload.Replications(e.Replications) {
			p.Runs = append(p.Runs, Run{int32(len(p.Runs)), cellKey(e.Seed, r, c), c, r})
		}
	}
	return p, nil
}

// Notes says in sentences what the plan makes of the experiment that its
// reader may not expect: what was left out of traces or sorted in them,
// replications that are not run, and settings of engines that play no part.
func (p *Plan) Notes() []string {
	var notes []string
	for _, v := range p.Workloads {
		notes = append(notes, v.Notes()...)
		if all := p.Experiment.Replications; v.Fixed() && len(all) > 1 {
			notes = append(notes, fmt.Sprintf("workload %s is a recorded trace, the same in every replication: it runs once, not in all %d of the experiment, and has no intervals; resample: auto draws replications from it",
				v.Name, len(all)))
		}
	}
	return unique(append(notes, idleSettings(p.Configs)...))
}

// unique drops what stands in a list before.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
