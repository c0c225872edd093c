package simulate

import (
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
)

// Trial measures single points that stand in no grid, such as those of a
// bisection. It keeps traces and buffers from one to the next, and is one
// goroutine's.
type Trial struct {
	experiment experiment.Experiment
	traces     generate.Decoder
	own        worker
}

// NewTrial returns a trial for points like those of an experiment, with its
// seed, warm-up and objective. Of its tables there is none.
func NewTrial(e *experiment.Experiment) *Trial {
	t := &Trial{experiment: *e, traces: generate.Decoder{Seed: e.Seed}}
	t.experiment.Tables = experiment.Tables{Requests: "none"}
	return t
}

// Decode decodes a point.
func (t *Trial) Decode(p experiment.Point) (*Config, error) {
	d := newDecoder(&t.experiment)
	d.traces = t.traces
	c := d.config(&p)
	t.traces = d.traces // with what has been read
	if err := experiment.Join(d.errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Run returns the cell of a decoded point in one replication.
func (t *Trial) Run(c *Config, replication int) (Cell, error) {
	r := Run{Key: cellKey(t.experiment.Seed, replication, c), Config: c, Replication: replication}
	p := Plan{Experiment: &t.experiment, Configs: []*Config{c}, Runs: []Run{r}}
	w, err := open(input{c.Workload, replication}, "")
	if err != nil {
		return Cell{}, err
	}
	if _, err := p.measure(&p.Runs[0], w, &t.own); err != nil {
		return Cell{}, err
	}
	return t.own.cell[0], nil
}

// Key is the identity of what happens in a configuration, whatever its seed.
func (c *Config) Key() string { return cellKey(0, 0, c) }
