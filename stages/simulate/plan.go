package simulate

import (
	"errors"
	"fmt"
	"math"

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
// replications. The error joins everything that is wrong with them, each thing
// once.
func NewPlan(e *experiment.Experiment) (*Plan, error) {
	if cells := len(e.Points) * len(e.Replications); cells > math.MaxInt32 {
		return nil, fmt.Errorf("%s: the grid has %d cells, expected at most %d", e.Name, cells, math.MaxInt32)
	}
	p := &Plan{Experiment: e}
	d := decoder{experiment: e, seen: map[string]bool{}, workloads: map[string]*generate.Variant{}}
	for i := range e.Points {
		if c := d.config(&e.Points[i]); c != nil {
			p.Configs = append(p.Configs, c)
		}
	}
	if len(d.errs) == 0 {
		d.distinct(p.Configs)
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	p.Workloads = d.order
	p.Runs = make([]Run, 0, len(p.Configs)*len(e.Replications))
	for _, c := range p.Configs {
		for _, r := range e.Replications {
			p.Runs = append(p.Runs, Run{int32(len(p.Runs)), cellKey(e.Seed, r, c), c, r})
		}
	}
	return p, nil
}

// decoder decodes points; what several of them have in common fails once.
type decoder struct {
	experiment *experiment.Experiment
	errs       []error
	seen       map[string]bool // texts of errs
	workloads  map[string]*generate.Variant
	order      []*generate.Variant
}

func (d *decoder) fail(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			d.fail(e)
		}
		return
	}
	if text := err.Error(); !d.seen[text] {
		d.seen[text] = true
		d.errs = append(d.errs, err)
	}
}

// config decodes a point, or fails.
func (d *decoder) config(p *experiment.Point) *Config {
	c := &Config{Index: int32(p.Index), Factors: map[string]string{}}
	for _, f := range p.Factors {
		c.Factors[f.Name] = f.Value
	}
	replicas := 1 // enough to find what else is wrong
	var err error
	if c.Cluster, err = decodeCluster(p.Cluster); err != nil {
		d.fail(err)
	} else {
		replicas = c.Cluster.Params.Replicas
	}
	if c.Router, err = decodeRouter(p.Router, replicas); err != nil {
		d.fail(err)
	}
	if c.Workload, err = d.workload(p.Workload, replicas); err != nil {
		d.fail(err)
	}
	return c
}

// workload decodes a workload once for each distinct set of parameters.
func (d *decoder) workload(in experiment.Instance, replicas int) (*generate.Variant, error) {
	v, err := generate.Decode(in, replicas, d.experiment.Seed)
	if err != nil {
		return nil, err
	}
	key := v.Name + "\n" + v.Key()
	if known, ok := d.workloads[key]; ok {
		return known, nil
	}
	d.workloads[key] = v
	d.order = append(d.order, v)
	return v, nil
}

// distinct refuses configurations that are the same run: their rows could not
// be told apart.
func (d *decoder) distinct(configs []*Config) {
	first := map[string]*Config{}
	for _, c := range configs {
		key := cellKey(0, 0, c)
		other, taken := first[key]
		if !taken {
			first[key] = c
			continue
		}
		d.fail(fmt.Errorf("%s: configurations %d and %d are the same run under two names, %s and %s: leave one of them out",
			d.experiment.Name, other.Index, c.Index, other.label(), c.label()))
	}
}

func (c *Config) label() string {
	return fmt.Sprintf("%q", c.WorkloadPoint+" / "+c.ClusterPoint+" / "+c.RouterPoint)
}
