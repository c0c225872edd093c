package queueing

import (
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// Sim runs studies one after the other and keeps its arrays in between. The
// zero value is ready; a worker has one of its own.
type Sim struct {
	meter meter
	block block
	watch func(b *block) // tests see each block after its dispatch
	ended func(e *ended) // and what ended, under processor sharing
	slow  bool           // tests let the event by event engine do what serve could
}

// Run runs one replication of a study. It is a function of its arguments
// alone. Memory is 90 MB for runs of up to 10^7 measured requests, and 1 MB for
// longer ones, plus what waits.
func (s *Sim) Run(c *Config, seed uint64, replication int) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	law := c.Sizes.Law()
	r := newRun(s, c, law, seed, replication)
	r.all()
	return r.result(), nil
}

// run is one replication under way.
type run struct {
	sim     *Sim
	config  *Config
	source  *source
	farm    *farm
	serve   func(b *block) // dispatches and serves
	engine  *engine        // nil where serve needs none
	cut     int64          // requests before it are not measured
	unit    float64        // of a tick, in units of size
	opening *window
	middle  *window
	closing *window
	last    int64 // arrival
	counter interface {
		lengths(t int64, counts []int64) []int64
	}
	counts []int64
}

// window is the farm at a moment.
type window struct {
	time     int64
	busy     []int64
	requests []int64
	work     int64
	sent     float64 // work, in ticks of a server of speed 1
	backlog  float64 // of it, not done
}

func newRun(s *Sim, c *Config, law dist.Law, seed uint64, replication int) *run {
	r := &run{
		sim: s, config: c, unit: law.Mean() / ticksPerMean,
		cut:    min(int64(c.WarmUp*float64(c.Traffic.Requests)), c.Traffic.Requests-1),
		source: newSource(c, law, seed, replication),
	}
	var limits [classes - 1]int64
	for i := range limits {
		limits[i] = toTicks(dist.Quantile(law, float64(i+1)/classes) / r.unit)
	}
	s.meter.reset(limits, c.Traffic.Requests-r.cut)
	e := env{
		config: c, servers: c.System.Servers, speed: c.System.speed, equal: c.System.equal(),
		stream: rng.New(seed, replication, "dispatch/policy/"+PolicyOf(c.Policy).Name),
	}
	r.farm = newFarm(e)
	r.connect(c, c.Policy.build(e), seed, replication)
	return r
}

// connect finds the fastest way to serve with that chooser.
func (r *run) connect(c *Config, ch chooser, seed uint64, replication int) {
	sees := c.Policy.sees()
	fcfs := c.System.Discipline != "ps"
	if b, ok := ch.(blind); ok && fcfs && !r.sim.slow {
		r.serve = func(x *block) {
			b.choose(x)
			r.farm.lindley(x)
		}
		return
	}
	alone := c.Information.Live() && c.System.Dispatchers == 1
	if x, ok := ch.(exact); ok && fcfs && alone && !r.sim.slow {
		r.serve = func(b *block) { x.serve(r.farm, b) }
		r.counter, _ = ch.(interface {
			lengths(int64, []int64) []int64
		})
		return
	}
	seen := *c
	if sees == seesNothing {
		seen.Information = Information{}
	}
	r.engine = newEngine(c, r.farm, ch, newInformation(&seen, sees == seesWork, seed, replication))
	r.counter = r.engine
	b, chosen := ch.(blind)
	r.serve = func(x *block) {
		if chosen {
			b.choose(x)
		}
		r.engine.serve(x, chosen)
	}
}

// all runs all requests.
func (r *run) all() {
	total := r.config.Traffic.Requests
	b := &r.sim.block
	*b = block{}
	// Counting queue lengths walks over all servers: once for so many blocks
	// that it costs a request an eighth of a server.
	stride := max(1, int64(r.config.System.Servers)*8/blockSize)
	middle := r.cut + (total-r.cut)/2
	for done, blocks := int64(0), int64(0); done < total; blocks++ {
		n := min(blockSize, total-done)
		for _, edge := range []int64{r.cut, middle} { // no block goes over one
			if done < edge {
				n = min(n, edge-done)
			}
		}
		r.source.fill(b, int(n))
		b.measured = done >= r.cut
		if done == r.cut {
			r.opening = r.look(b.time[0])
		}
		if done == middle {
			r.middle = r.look(b.time[0])
		}
		if r.counter != nil && b.measured && blocks%stride == 0 {
			r.counts = r.counter.lengths(b.time[0], r.counts)
		}
		r.serve(b)
		half := 0
		if done >= middle {
			half = 1
		}
		r.measure(b, half)
		done += n
		r.last = b.time[n-1]
	}
	r.closing = r.look(r.last)
	if r.engine != nil && r.engine.ps {
		r.engine.drain()
		r.endedNow(1)
	}
}

func (r *run) measure(b *block, half int) {
	if r.sim.watch != nil {
		r.sim.watch(b)
	}
	if r.engine != nil && r.engine.ps {
		r.endedNow(half)
	} else if b.measured {
		r.sim.meter.served(b, half)
	}
}

func (r *run) endedNow(half int) {
	e := &r.engine.ended
	if r.sim.ended != nil {
		r.sim.ended(e)
	}
	r.sim.meter.add(e.response, e.need, half)
	e.response, e.need = e.response[:0], e.need[:0]
}

// look notes the farm at time t, the last event.
func (r *run) look(t int64) *window {
	w := &window{time: t}
	for i := range r.farm.servers {
		w.busy = append(w.busy, r.farm.busy(i, t))
		w.requests = append(w.requests, r.farm.servers[i].requests)
		w.work += r.farm.servers[i].work
		v := r.config.System.speed(i)
		w.sent += v * float64(r.farm.servers[i].work)
		w.backlog += v * float64(r.farm.servers[i].work-w.busy[i])
	}
	return w
}

func (r *run) result() *Result {
	out := r.sim.meter.result(r.unit)
	span := float64(r.closing.time - r.opening.time)
	out.Start, out.End = float64(r.opening.time)*r.unit, float64(r.closing.time)*r.unit
	var done, could float64
	for i := range r.farm.servers {
		share := math.NaN()
		if span > 0 {
			share = float64(r.closing.busy[i]-r.opening.busy[i]) / span
		}
		out.ServerUtilisation = append(out.ServerUtilisation, share)
		out.ServerRequests = append(out.ServerRequests, r.closing.requests[i]-r.opening.requests[i])
		v := r.config.System.speed(i)
		done += share * v
		could += v
	}
	out.Utilisation = done / could
	out.Load = (r.closing.sent - r.opening.sent) / (could * span)
	out.HalfTime = float64(r.closing.time-r.middle.time) * r.unit
	out.Growth = (r.closing.backlog - r.middle.backlog) / (r.closing.sent - r.middle.sent)
	out.Wait = out.Mean - float64(r.closing.work-r.opening.work)*r.unit/float64(out.Requests)
	out.Lengths = atLeast(r.counts)
	return out
}

// atLeast turns numbers of servers by queue length into shares of servers with
// at least that length.
func atLeast(counts []int64) []float64 {
	if counts == nil {
		return nil
	}
	shares := make([]float64, len(counts))
	var sum int64
	for i := len(counts) - 1; i >= 0; i-- {
		sum += counts[i]
		shares[i] = float64(sum)
	}
	for i := range shares {
		shares[i] /= float64(sum)
	}
	return shares
}
