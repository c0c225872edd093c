package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"switchyard/sim/param"
	"switchyard/sim/serving"
	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
)

// Config is a system in a world under a way of serving: a cell without its
// replication.
type Config struct {
	Index        int32
	Serving      string
	ServingPoint string
	Factors      map[string]string

	ground  choose.Ground
	head    choose.Setting // what the file says of the ground
	way     *way
	pools   [][]int32 // by module and candidate: the model that serves it, or -1
	modules []serving.Module
	parts   []string // all that decides what happens, but seed and replication
}

// Name says to a person which configuration it is.
func (c *Config) Name() string { return c.ground.Name() + " / " + c.ServingPoint }

// Pools is the number of pools in each replication.
func (c *Config) Pools() int { return c.ground.Pools() }

// Run is a cell as it is planned.
type Run struct {
	Index       int32
	Key         string // see Where.CellKey
	Config      *Config
	Replication int
}

// Name says to a person which cell it is.
func (r *Run) Name() string {
	return fmt.Sprintf("%s / replication %d", r.Config.Name(), r.Replication)
}

// Plan is all cells of an experiment's section serving, in order; none where it
// does not have one.
type Plan struct {
	Experiment *experiment.Experiment
	Runs       []Run
	Configs    []*Config
}

// NewPlan decodes an experiment's section serving for the choices of its plan,
// nil where that failed. The error joins everything that is wrong.
func NewPlan(e *experiment.Experiment, choices *choose.Plan) (*Plan, error) {
	p := &Plan{Experiment: e}
	points := e.Points[experiment.Serve]
	if len(points) == 0 {
		return p, nil
	}
	var errs []error
	traces := &generate.Decoder{Seed: e.Seed}
	ways := make([]*way, len(points))
	for i := range points {
		var err error
		if ways[i], err = decode(points[i].Part("serving"), traces); err != nil {
			errs = append(errs, err)
		}
	}
	if choices == nil || len(errs) > 0 {
		return nil, experiment.Join(errs...)
	}
	known := map[string]*Config{}
	for _, g := range choices.Grounds() {
		for i := range points {
			c, err := config(&points[i], ways[i], g, e.WarmUp)
			if err == nil {
				err = c.distinct(known, &points[i])
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			c.Index = int32(len(p.Configs))
			p.Configs = append(p.Configs, c)
		}
	}
	if err := experiment.Join(errs...); err != nil {
		return nil, err
	}
	if cells := len(p.Configs) * len(e.Replications); cells > math.MaxInt32 {
		return nil, fmt.Errorf("%s: the grid of %s has %d cells, expected at most %d", e.Name, experiment.Serve, cells, math.MaxInt32)
	}
	for _, c := range p.Configs {
		for _, r := range e.Replications {
			p.Runs = append(p.Runs, Run{int32(len(p.Runs)), cellKey(c.parts, e.Seed, r), c, r})
		}
	}
	return p, nil
}

// config joins a way of serving and what is served.
func config(point *experiment.Point, w *way, g choose.Ground, warmUp float64) (*Config, error) {
	c := &Config{
		Serving: point.Part("serving").Name, ServingPoint: point.LabelOf("serving"), Factors: map[string]string{},
		ground: g, way: w, modules: serving.Modules(g.Graph()),
	}
	g.Label(&c.head)
	for name, value := range c.head.Factors {
		c.Factors[name] = value
	}
	for _, f := range point.Factors {
		c.Factors[f.Name] = f.Value
	}
	var err error
	if c.pools, err = w.place(g); err != nil {
		return nil, err
	}
	if err := w.lengths.Check(c.modules); err != nil {
		var wrong *param.Error
		if errors.As(err, &wrong) {
			return nil, w.at.Errorf("lengths."+wrong.Field, wrong.Expected+" in "+g.Name(), nil)
		}
		return nil, err
	}
	if err := c.tryRules(); err != nil {
		return nil, err
	}
	c.parts = append([]string{"switchyard serve", fmt.Sprint("warm-up ", warmUp)}, append(w.parts, g.Chosen()...)...)
	return c, nil
}

// tryRules fits the rules once, so that what they cannot work with is known
// before anything runs.
func (c *Config) tryRules() error {
	if len(c.way.rules) == 0 {
		return nil
	}
	s, err := c.ground.Stand(1, 0)
	if err != nil {
		return err
	}
	for i := range c.way.rules {
		r := &c.way.rules[i]
		if _, err := c.fit(s, make([]int32, len(c.pools)), r, 0, 1); err != nil {
			var wrong *param.Error
			if errors.As(err, &wrong) {
				return r.at.Errorf(wrong.Field, wrong.Expected, nil)
			}
			return r.at.Errorf("rule", "one that can be fitted in "+c.ground.Name()+": "+err.Error(), nil)
		}
	}
	return nil
}

// distinct refuses a configuration that is the same run as another.
func (c *Config) distinct(known map[string]*Config, point *experiment.Point) error {
	key := cellKey(c.parts, 0, 0)
	other, taken := known[key]
	if !taken {
		known[key] = c
		return nil
	}
	return point.Part("serving").Section.Errorf("gpus", fmt.Sprintf("parameters that differ from those of %q: the two are the same runs under two names, leave one out", other.ServingPoint), nil)
}

// cellKey hashes all that decides what happens, each part behind its length.
func cellKey(parts []string, seed uint64, replication int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d\n", Version, seed, replication)
	for _, part := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
