package queueing

import (
	"errors"
	"fmt"
	"math"

	"switchyard/sim/param"
)

// Config is one study of dispatch.
type Config struct {
	System      System
	Traffic     Traffic
	Information Information
	Arrivals    Arrivals // one of Processes
	Sizes       Sizes    // one of SizeLaws
	Policy      Params   // one of Policies
	WarmUp      float64  // share of the first arrivals that results leave out, in [0, 1)
}

// System is the servers and those who send to them.
type System struct {
	Servers     int       `yaml:"servers" default:"16" min:"1" max:"1000000" doc:"number of servers"`
	Speeds      []float64 `yaml:"speeds" min:"0.001" max:"1000" doc:"speeds of the servers, repeated in turn over them; none: all 1"`
	Discipline  string    `yaml:"discipline" default:"fcfs" enum:"fcfs|ps" doc:"order of service: first come first served, or processor sharing"`
	Dispatchers int       `yaml:"dispatchers" default:"1" min:"1" max:"10000" doc:"dispatchers that do not see each other; each request comes to one of them at random"`
}

// Traffic is how much arrives.
type Traffic struct {
	Load     float64 `yaml:"load" default:"0.9" min:"0.0001" max:"100" doc:"work that arrives over what all servers can do; at 1 and above nothing settles"`
	Requests int64   `yaml:"requests" default:"0" min:"0" max:"4000000000" doc:"arrivals of a run, those of the warm-up included; 0: as many as there are given times and sizes in order, else 50000"`
}

// Information is what the dispatchers know of the servers and how old it is,
// after Mitzenmacher (2000, How Useful Is Old Information?).
//
// live: the state at this moment. periodic: a board with all servers' states,
// written at the multiples of T. continuous: each request sees the state of T
// ago; continuous-exponential: of an age ago that is drawn for each request,
// exponential of mean T. individual: a board on which each server writes its
// state at times of its own, at exponential gaps of mean T. own: each
// dispatcher counts the requests that it has sent and that have not ended.
//
// The state at time s has in it the departures up to and at s and the arrivals
// before s. All states are of empty servers before the first writing and
// before time 0. Age 0 makes every model but own live.
type Information struct {
	Model       string  `yaml:"model" default:"live" enum:"live|periodic|continuous|continuous-exponential|individual|own" doc:"how the servers' states reach the dispatchers"`
	Age         float64 `yaml:"age" default:"0" min:"0" max:"1000000" unit:"mean size" doc:"T, the time between refreshes or the age of what is seen; needs a model other than live and own, and 0 makes that live"`
	Corrections bool    `yaml:"corrections" doc:"whether a dispatcher adds what it has sent itself since the state that it sees; needs a model other than live and own"`
}

// Check implements the check of sim/param: a value that the model does not use
// would otherwise look like a study of it.
func (i *Information) Check() error {
	switch {
	case i.Age > 0 && (i.Model == "live" || i.Model == "" || i.Model == "own"):
		return &param.Error{Field: "age", Value: param.Format(i.Age), Expected: "a model other than live and own, which know no age: periodic, continuous, continuous-exponential or individual"}
	case i.Corrections && (i.Model == "live" || i.Model == ""):
		return &param.Error{Field: "corrections", Value: "true", Expected: "a model other than live, which leaves nothing to correct: periodic, continuous, continuous-exponential or individual"}
	case i.Corrections && i.Model == "own":
		return &param.Error{Field: "corrections", Value: "true", Expected: "a model other than own, which counts what was sent in any case: periodic, continuous, continuous-exponential or individual"}
	}
	return nil
}

// Live says whether a dispatcher sees the state of this moment.
func (i Information) Live() bool {
	return i.Model == "live" || i.Model == "" || i.Model != "own" && ticksOf(i.Age) == 0
}

// NewConfig returns the study with every default: the lecture's 16 servers at
// load 0.9, Poisson arrivals, exponential sizes, random dispatch, no warm-up.
func NewConfig() *Config {
	c := &Config{Arrivals: new(Poisson), Sizes: new(ExponentialSizes), Policy: new(Random)}
	for _, part := range c.parts() {
		param.Defaults(part)
	}
	c.Count()
	return c
}

// usualRequests is how long a run is that nobody has given a length.
const usualRequests = 50_000

// Count sets a number of requests of 0 to as many as there are given times and
// sizes in order, or to 50,000 without.
func (c *Config) Count() {
	if c.Traffic.Requests != 0 {
		return
	}
	given := int64(math.MaxInt64)
	if t, ok := c.Arrivals.(*Times); ok {
		given = int64(len(t.Values))
	}
	if e, ok := c.Sizes.(*EmpiricalSizes); ok && e.InOrder {
		given = min(given, int64(len(e.Values)))
	}
	if c.Traffic.Requests = usualRequests; given != math.MaxInt64 {
		c.Traffic.Requests = given
	}
}

func (c *Config) parts() []any {
	return []any{&c.System, &c.Traffic, &c.Information, c.Arrivals, c.Sizes, c.Policy}
}

// Validate reports the first values that make no study.
func (c *Config) Validate() error {
	if c.Arrivals == nil || c.Sizes == nil || c.Policy == nil {
		return errors.New("a study needs arrivals, sizes and a policy")
	}
	var errs []error
	for _, part := range c.parts() {
		errs = append(errs, param.Validate(part))
	}
	if !(c.WarmUp >= 0 && c.WarmUp < 1) {
		errs = append(errs, &param.Error{Field: "warm_up", Value: param.Format(c.WarmUp), Expected: "a share of at least 0 and below 1"})
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if c.Traffic.Requests == 0 {
		return &param.Error{Field: "requests", Value: "0", Expected: "the requests of a run, see Config.Count"}
	}
	return errors.Join(c.checkPolicy(), c.checkArrivals(), c.checkHorizon())
}

// checkPolicy refuses a policy that cannot run on that system or information.
func (c *Config) checkPolicy() error {
	sees := c.Policy.sees()
	name := PolicyOf(c.Policy).Name
	switch {
	case sees == seesQueue && (c.System.Discipline == "ps" || !c.Information.Live()):
		return fmt.Errorf("policy %s holds requests back in one queue: it needs discipline fcfs and live information", name)
	case sees == seesExpected && !c.Information.Live():
		return fmt.Errorf("policy %s needs live information: its predictions change with every departure", name)
	case sees == seesWork && c.Information.Model == "own":
		return fmt.Errorf("policy %s sees remaining work, which nobody's own count of requests tells: use another information.model", name)
	}
	if p, ok := c.Policy.(*JSQOf); ok && !p.Replacement && p.Choices > c.System.Servers {
		return &param.Error{Field: "choices", Value: param.Format(p.Choices), Expected: "at most as many as servers, or replacement: true"}
	}
	return nil
}

func (c *Config) checkArrivals() error {
	t, ok := c.Arrivals.(*Times)
	if ok && c.Traffic.Requests > int64(len(t.Values)) {
		return &param.Error{Field: "requests", Value: param.Format(c.Traffic.Requests), Expected: fmt.Sprintf("at most the %d given times", len(t.Values))}
	}
	if e, ok := c.Sizes.(*EmpiricalSizes); ok && e.InOrder && c.Traffic.Requests > int64(len(e.Values)) {
		return &param.Error{Field: "requests", Value: param.Format(c.Traffic.Requests), Expected: fmt.Sprintf("at most the %d given sizes, or in_order: false", len(e.Values))}
	}
	return nil
}

// longest is how many mean sizes a run may take, half of what ticks can count.
const longest = 1 << 32

func (c *Config) checkHorizon() error {
	work := float64(c.Traffic.Requests) / c.capacity()
	if span := math.Max(work, work/c.Load()); span > longest {
		return &param.Error{Field: "requests", Value: param.Format(c.Traffic.Requests), Expected: fmt.Sprintf("a run of at most %d mean sizes (this takes %.3g): more servers, more load or fewer requests", int64(longest), span)}
	}
	return nil
}

// speed returns the speed of server i.
func (s *System) speed(i int) float64 {
	if len(s.Speeds) == 0 {
		return 1
	}
	return s.Speeds[i%len(s.Speeds)]
}

// equal says whether all servers have speed 1.
func (s *System) equal() bool {
	for _, v := range s.Speeds {
		if v != 1 {
			return false
		}
	}
	return true
}

// capacity is the sum of the speeds.
func (c *Config) capacity() float64 {
	var sum float64
	for i := range c.System.Servers {
		sum += c.System.speed(i)
	}
	return sum
}

// Rate returns the mean number of arrivals in a unit of time, the unit of the
// sizes.
func (c *Config) Rate() float64 { return c.rate(c.Sizes.Law().Mean()) }

// rate is Rate where the mean size is known.
func (c *Config) rate(mean float64) float64 {
	if t, ok := c.Arrivals.(*Times); ok && t.KeepRate {
		return 1 / t.meanGap()
	}
	return c.Traffic.Load * c.capacity() / mean
}

// Load returns the load: the one asked for, or the one that given times bring.
func (c *Config) Load() float64 {
	if _, ok := c.Arrivals.(*Times); !ok {
		return c.Traffic.Load
	}
	mean := c.Sizes.Law().Mean()
	return c.rate(mean) * mean / c.capacity()
}

// ticksPerMean is how many ticks of time a mean size is.
const ticksPerMean = 1 << 30

// ticksOf rounds a time in mean sizes to ticks.
func ticksOf(means float64) int64 { return int64(math.Round(means * ticksPerMean)) }
