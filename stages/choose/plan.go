package choose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// Config is a configuration: a point of the grid, that is a cell without its
// replication.
type Config struct {
	Index          int32
	SystemPoint    string // with its swept values
	WorldPoint     string
	OptimiserPoint string
	Factors        map[string]string

	point     *experiment.Point
	setting   *setting
	optimiser *optimiser
	parts     []string // all that decides what happens, but seed and replication
}

// Name says to a person which configuration it is.
func (c *Config) Name() string {
	return c.setting.name() + " / " + c.OptimiserPoint
}

// Pools is the number of pools in each replication.
func (c *Config) Pools() int { return c.setting.world.source.pools() }

// setting is a system in a world: what optimisers share.
type setting struct {
	index                   int // among the settings of the plan
	systemName, worldName   string
	systemPoint, worldPoint string
	factors                 map[string]string
	system                  *system
	world                   *world
	able                    able
	modules                 []string   // that are decisions
	candidates              [][]string // of each
	replications            []int
	parts                   []string
}

func (s *setting) name() string { return s.systemPoint + " / " + s.worldPoint }

// Run is a cell as it is planned.
type Run struct {
	Index       int32  // position in the grid
	Key         string // see Where.CellKey
	Config      *Config
	Replication int
}

// Name says to a person which cell it is.
func (r *Run) Name() string {
	return fmt.Sprintf("%s / replication %d", r.Config.Name(), r.Replication)
}

// Plan is all cells of an experiment's sections systems x worlds x optimisers,
// in order; none where it does not have them.
type Plan struct {
	Experiment *experiment.Experiment
	Runs       []Run

	settings []*setting // in the order in which the grid meets them
}

// NewPlan decodes an experiment's points and crosses them with its
// replications. The error joins everything that is wrong with the points.
func NewPlan(e *experiment.Experiment) (*Plan, error) {
	p := &Plan{Experiment: e}
	points := e.Points[experiment.Choose]
	if cells := len(points) * len(e.Replications); cells > math.MaxInt32 {
		return nil, fmt.Errorf("%s: the grid of %s has %d cells, expected at most %d", e.Name, experiment.Choose, cells, math.MaxInt32)
	}
	d := newDecoder(p)
	first := map[string]*Config{}
	for i := range points {
		c := d.config(&points[i])
		if c == nil {
			continue // an error
		}
		key := cellKey(c.parts, 0, 0)
		if other, taken := first[key]; taken {
			d.errs = append(d.errs, c.repeats(other))
			continue
		}
		first[key] = c
		for _, r := range c.setting.replications {
			p.Runs = append(p.Runs, Run{int32(len(p.Runs)), cellKey(c.parts, e.Seed, r), c, r})
		}
	}
	if err := experiment.Join(d.errs...); err != nil {
		return nil, err
	}
	return p, nil
}

// config decodes a point.
func (d *decoder) config(p *experiment.Point) *Config {
	c := &Config{
		Index: int32(p.Index), point: p, Factors: map[string]string{},
		SystemPoint: p.LabelOf("system"), WorldPoint: p.LabelOf("world"), OptimiserPoint: p.LabelOf("optimiser"),
	}
	for _, f := range p.Factors {
		c.Factors[f.Name] = f.Value
	}
	c.setting = d.settingOf(p)
	c.optimiser = once(d, d.optimisers, c.OptimiserPoint, p.Part("optimiser").Section, d.optimiser)
	if c.setting == nil || c.optimiser == nil {
		return nil
	}
	if err := c.fits(); err != nil {
		d.errs = append(d.errs, err)
		return nil
	}
	c.parts = append([]string{"switchyard choose", c.optimiser.key}, c.setting.parts...)
	return c
}

// settingOf returns the point's system in its world; nil after an error.
func (d *decoder) settingOf(p *experiment.Point) *setting {
	sys, wld := p.Part("system"), p.Part("world")
	key := [2]string{p.LabelOf("system"), p.LabelOf("world")}
	if s, ok := d.settings[key]; ok {
		return s
	}
	d.settings[key] = nil
	system := once(d, d.systems, key[0], sys.Section, d.system)
	world := once(d, d.worlds, key[1], wld.Section, d.world)
	if system == nil || world == nil {
		return nil
	}
	if err := world.source.check(system, wld.Section); err != nil {
		d.errs = append(d.errs, err)
		return nil
	}
	if err := world.checkStart(system, wld.Section); err != nil {
		d.errs = append(d.errs, err)
		return nil
	}
	s := &setting{
		index: len(d.plan.settings), systemName: sys.Name, worldName: wld.Name,
		systemPoint: key[0], worldPoint: key[1],
		factors: map[string]string{}, system: system, world: world, able: world.source.able(system), replications: d.plan.Experiment.Replications,
		parts: []string{system.key, world.key},
	}
	for _, f := range p.Factors {
		if f.Part != "optimiser" {
			s.factors[f.Name] = f.Value
		}
	}
	s.modules, s.candidates = world.source.names(system)
	d.settings[key] = s
	d.plan.settings = append(d.plan.settings, s)
	return s
}

// repeats is the error of a configuration that is the same run as another, at
// the part of it that has another name.
func (c *Config) repeats(other *Config) error {
	part, name := "world", other.WorldPoint
	switch {
	case c.SystemPoint != other.SystemPoint:
		part, name = "system", other.SystemPoint
	case c.OptimiserPoint != other.OptimiserPoint:
		part, name = "optimiser", other.OptimiserPoint
	}
	at := c.point.Part(part).Section
	return at.Errorf(part, fmt.Sprintf("parameters that differ from those of %q: the two are the same runs under two names, leave one out", name), nil)
}

func canonical(ptr any) string { return strings.Join(param.Canonical(ptr), "\n") }

// cellKey hashes all that decides what happens, and nothing else: each part
// behind its length, so that no two lists of parts read the same.
func cellKey(parts []string, seed uint64, replication int) string {
	h := sha256.New()
	for _, part := range append([]string{strconv.Itoa(Version), strconv.FormatUint(seed, 10), strconv.Itoa(replication)}, parts...) {
		fmt.Fprintf(h, "%d\n%s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
