package capacity

import (
	"fmt"
	"math"
	"strings"

	"switchyard/stages/experiment"
	"switchyard/stages/simulate"
)

// Version is raised by hand when the same search comes to other results.
const Version = 2

// Options say what counts as carried, and how closely it is found. The zero
// value asks for stability alone, within 2 %.
type Options struct {
	// Attainment is the share of requests that must meet the experiment's
	// objective; 0 asks for none.
	Attainment float64
	// Tolerance is the greatest hi/lo - 1 of a finished search; 0 means 0.02.
	Tolerance float64
}

// leastTolerance is what four digits can tell.
const leastTolerance = 0.001

// Validate reports what is out of bounds.
func (o Options) Validate() error {
	switch {
	case !(o.Attainment >= 0 && o.Attainment <= 1):
		return fmt.Errorf("the share that must meet the objective is %v, expected a share from 0 to 1", o.Attainment)
	case o.Tolerance != 0 && !(o.Tolerance >= leastTolerance && o.Tolerance <= 1):
		return fmt.Errorf("tolerance is %v, expected %v to 1", o.Tolerance, leastTolerance)
	}
	return nil
}

// Search is one workload on one cluster under one router.
type Search struct {
	Index  int32
	Axis   string  // of the workload: arrivals.rate_rps or speed
	Start  float64 // first load
	Config *simulate.Config
	// The variants' names with their swept values, but for the load.
	WorkloadPoint, ClusterPoint, RouterPoint string
	Factors                                  map[string]string
	Replications                             []int

	point experiment.Point
	key   string
}

// name says to a person which search it is.
func (s *Search) name() string {
	return fmt.Sprintf("%s / %s / %s", s.WorkloadPoint, s.ClusterPoint, s.RouterPoint)
}

// Plan is all searches of an experiment, in order of its grid.
type Plan struct {
	Experiment *experiment.Experiment
	Options    Options
	Searches   []*Search
}

// NewPlan makes a search of each point of an experiment, those that differ in
// their load alone being one. The points themselves must have been planned by
// package simulate without an error.
func NewPlan(points *simulate.Plan, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Tolerance == 0 {
		o.Tolerance = 0.02
	}
	e := points.Experiment
	if slo := e.SLO; o.Attainment > 0 && slo.TTFTMs == 0 && slo.TPOTMs == 0 && slo.E2EMs == 0 {
		return nil, fmt.Errorf("experiment %s has no objective to attain: give it one, such as slo: {ttft_ms: 2000}", e.Name)
	}
	p := &Plan{Experiment: e, Options: o}
	trial := simulate.NewTrial(e)
	known := map[string]bool{}
	for i, c := range points.Configs {
		s, err := newSearch(trial, e, e.Points[experiment.Simulate][i], c)
		if err != nil {
			return nil, err
		}
		if known[s.key] {
			continue
		}
		known[s.key] = true
		s.Index = int32(len(p.Searches))
		p.Searches = append(p.Searches, s)
	}
	return p, nil
}

// newSearch plans the search of a point.
func newSearch(trial *simulate.Trial, e *experiment.Experiment, point experiment.Point, c *simulate.Config) (*Search, error) {
	s := &Search{
		Config: c, point: point, Factors: map[string]string{}, Replications: c.Workload.Replications(e.Replications),
		ClusterPoint: point.LabelOf("cluster"), RouterPoint: point.LabelOf("router"),
	}
	var err error
	if s.Axis, s.Start, err = axisOf(point.Part("workload").Section, c); err != nil {
		return nil, err
	}
	if s.Start = rounded(s.Start); !(s.Start > 0) || math.IsInf(s.Start, 1) {
		return nil, fmt.Errorf("workload %s starts at the load %v, expected one above 0", c.Workload.Name, s.Start)
	}
	s.WorkloadPoint = point.Part("workload").Name
	key := s.Axis[strings.LastIndex(s.Axis, ".")+1:]
	for _, f := range point.Factors {
		if f.Part == "workload" && f.Name[strings.LastIndex(f.Name, ".")+1:] == key {
			continue
		}
		s.Factors[f.Name] = f.Value
		if f.Part == "workload" {
			s.WorkloadPoint += " " + f.Name + "=" + f.Value
		}
	}
	unit, err := trial.Decode(point.With("workload", s.Axis, 1))
	if err != nil {
		return nil, err
	}
	s.key = unit.Key()
	return s, nil
}

// axisOf returns where a workload has its load, and what it is.
func axisOf(s experiment.Section, c *simulate.Config) (axis string, start float64, err error) {
	arrivals, _ := s.Section("arrivals")
	process, _ := arrivals.String("process")
	_, traced := s.String("trace")
	switch {
	case traced:
		return "speed", speedOf(s), nil
	case process == "trace":
		return "arrivals.speed", speedOf(arrivals), nil
	case c.Workload.RateRps() > 0:
		return "arrivals.rate_rps", c.Workload.RateRps(), nil
	}
	return "", 0, s.Errorf("arrivals.process", "a process with a rate, or a trace: only these have a load that can be raised", nil)
}

// speedOf returns how much faster than recorded a trace is played.
func speedOf(s experiment.Section) float64 {
	text, ok := s.String("speed")
	speed := 1.0
	if ok {
		fmt.Sscan(text, &speed)
	}
	return speed
}
