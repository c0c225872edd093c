package queueing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"switchyard/sim/param"
	"switchyard/sim/queueing"
	"switchyard/stages/experiment"
)

// Config is a configuration: a point of one of the two grids, that is a cell
// without its replication.
type Config struct {
	Job           string // experiment.Balls or experiment.Dispatch
	Index         int32
	WorkloadPoint string // setting or system with its swept values
	RouterPoint   string // policy with its swept values; "" for balls
	Factors       map[string]string

	point        *experiment.Point
	balls        *queueing.Balls  // of a setting of balls and bins
	study        *queueing.Config // of a system under a policy
	system       *system
	policy       *policy
	theory       queueing.Value
	replications []int
	parts        []string // all that decides what happens, but seed and replication
}

// Name says to a person which configuration it is.
func (c *Config) Name() string {
	if c.RouterPoint == "" {
		return c.WorkloadPoint
	}
	return c.WorkloadPoint + " / " + c.RouterPoint
}

// Run is a cell as it is planned.
type Run struct {
	Index       int32  // position in its grid
	Key         string // see DispatchRow.CellKey
	Config      *Config
	Replication int
}

// Name says to a person which cell it is.
func (r *Run) Name() string {
	return fmt.Sprintf("%s / replication %d", r.Config.Name(), r.Replication)
}

// Plan is all cells of an experiment's sections balls, and dispatch x
// policies, each grid in order; either may be empty.
type Plan struct {
	Experiment      *experiment.Experiment
	Balls, Dispatch []Run
}

// NewPlan decodes an experiment's points and crosses them with its
// replications. The error joins everything that is wrong with the points.
func NewPlan(e *experiment.Experiment) (*Plan, error) {
	p := &Plan{Experiment: e}
	d := newDecoder()
	for _, of := range []struct {
		job    string
		runs   *[]Run
		decode func(c *Config)
	}{
		{experiment.Balls, &p.Balls, d.throwing},
		{experiment.Dispatch, &p.Dispatch, func(c *Config) { d.dispatching(c, e.WarmUp) }},
	} {
		points := e.Points[of.job]
		if cells := len(points) * len(e.Replications); cells > math.MaxInt32 {
			return nil, fmt.Errorf("%s: the grid of %s has %d cells, expected at most %d", e.Name, of.job, cells, math.MaxInt32)
		}
		first := map[string]*Config{}
		var configs []*Config
		for i := range points {
			c := newConfig(of.job, &points[i])
			of.decode(c)
			if c.parts == nil {
				continue // an error
			}
			key := cellKey(c, 0, 0)
			if other, taken := first[key]; taken {
				d.errs = append(d.errs, c.repeats(other))
				continue
			}
			first[key] = c
			configs = append(configs, c)
		}
		replicate(configs, e.Replications)
		for _, c := range configs {
			for _, r := range c.replications {
				*of.runs = append(*of.runs, Run{int32(len(*of.runs)), cellKey(c, e.Seed, r), c, r})
			}
		}
	}
	if err := experiment.Join(d.errs...); err != nil {
		return nil, err
	}
	return p, nil
}

func newConfig(job string, p *experiment.Point) *Config {
	c := &Config{Job: job, Index: int32(p.Index), Factors: map[string]string{}, point: p}
	c.WorkloadPoint = p.LabelOf(p.Parts[0].Part)
	if len(p.Parts) > 1 {
		c.RouterPoint = p.LabelOf(p.Parts[1].Part)
	}
	for _, f := range p.Factors {
		c.Factors[f.Name] = f.Value
	}
	return c
}

// throwing decodes a setting of balls and bins.
func (d *decoder) throwing(c *Config) {
	s := c.point.Part("balls").Section
	if c.balls = once(d, d.balls, s, d.ballsOf); c.balls == nil {
		return
	}
	c.parts = append([]string{"switchyard balls"}, param.Canonical(c.balls)...)
}

// dispatching decodes a system under a policy, and checks that they fit.
func (d *decoder) dispatching(c *Config, warmUp float64) {
	from, by := c.point.Part("dispatch").Section, c.point.Part("policy").Section
	c.system = once(d, d.systems, from, d.system)
	c.policy = once(d, d.policies, by, d.policy)
	if c.system == nil || c.policy == nil {
		return
	}
	study := c.system.config
	study.Policy = c.policy.value
	if warmUp >= 0 && warmUp < 1 { // another has its error where it stands
		study.WarmUp = warmUp
	}
	if err := study.Validate(); err != nil {
		d.errs = append(d.errs, place(err, from, by, c.policy.value))
		return
	}
	c.study, c.theory = &study, queueing.Theory(&study)
	c.parts = []string{
		"switchyard dispatch", param.Format(warmUp), c.system.arrivals.key, c.system.sizes.key, c.policy.key,
		canonical(&study.System), canonical(&study.Traffic), canonical(&study.Information),
	}
}

func canonical(ptr any) string { return strings.Join(param.Canonical(ptr), "\n") }

// repeats is the error of a configuration that is the same run as another, at
// the part of it that has another name.
func (c *Config) repeats(other *Config) error {
	at, key, name := c.point.Parts[0].Section, "servers", other.WorkloadPoint
	switch {
	case c.Job == experiment.Balls:
		key = "bins"
	case c.RouterPoint != other.RouterPoint:
		at, key, name = c.point.Part("policy").Section, "policy", other.RouterPoint
	}
	return at.Errorf(key, fmt.Sprintf("parameters that differ from those of %q: the two are the same runs under two names, leave one out", name), nil)
}

// cellKey hashes all that decides what happens in a cell, and nothing else:
// each part behind its length, so that no two lists of parts read the same.
func cellKey(c *Config, seed uint64, replication int) string {
	h := sha256.New()
	for _, part := range append([]string{strconv.Itoa(Version), strconv.FormatUint(seed, 10), strconv.Itoa(replication)}, c.parts...) {
		fmt.Fprintf(h, "%d\n%s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
