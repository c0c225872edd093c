package serve

import (
	"context"
	"fmt"
	"math"
	"strings"

	"switchyard/sim/cluster"
	"switchyard/sim/rng"
	"switchyard/sim/serving"
	"switchyard/sim/workload"
	"switchyard/stages/choose"
)

// stage is where the contenders of a pool are served: the same questions at the
// same times for all of them.
type stage struct {
	*Config
	fleet       *serving.Fleet
	sim         *cluster.Sim
	seed        uint64
	replication int
	cut         int
	train, test *drawn
	latencies   []int64
	requests    int64
}

// drawn is traffic with the world's questions that it asks.
type drawn struct {
	*serving.Traffic
	asked []int32 // by question of the traffic
}

// stage draws the traffic of a pool.
func (c *Config) stage(sim *cluster.Sim, s *choose.Stand, seed uint64, replication, pool int, warmUp float64) (*stage, error) {
	t := &stage{Config: c, fleet: c.way.fleet(), sim: sim, seed: seed, replication: replication}
	t.cut = int(warmUp * float64(c.way.params.Questions))
	var err error
	if t.train, err = c.draw(s.Train.Questions(), seed, replication, fmt.Sprintf("serve/%d/train/", pool)); err != nil {
		return nil, err
	}
	t.test, err = c.draw(s.Test.Questions(), seed, replication, fmt.Sprintf("serve/%d/test/", pool))
	return t, err
}

func (c *Config) draw(world int, seed uint64, replication int, name string) (*drawn, error) {
	stream := func(of string) *rng.Stream { return rng.New(seed, replication, name+of) }
	n := c.way.params.Questions
	process, err := c.way.arrivals.Process(replication)
	if err != nil {
		return nil, err
	}
	starts, err := process.Starts(&workload.Env{Seed: stream("arrivals").Uint64(), Replication: replication, Requests: n}, n, 1)
	if err != nil {
		return nil, err
	}
	d := &drawn{asked: order(world, n, stream("order"))}
	d.Traffic, err = serving.Draw(c.modules, &c.way.lengths, n, starts, stream)
	return d, err
}

// order asks a world's questions in random order, all of them before any comes
// again; of a world that knows no single questions the first each time.
func order(world, n int, s *rng.Stream) []int32 {
	asked := make([]int32, n)
	var left []int32
	for i := range asked {
		if len(left) == 0 {
			for q := range max(1, world) {
				left = append(left, int32(q))
			}
		}
		k := s.IntN(len(left))
		asked[i] = left[k]
		left[k] = left[len(left)-1]
		left = left[:len(left)-1]
	}
	return asked
}

// outcome is what a contender's row says.
type outcome struct {
	*contender
	fits    bool
	split   []int
	splits  []SplitRow // all that were tried
	all     bool
	planned serving.Times
	served  serving.Times
	calls   float64
	busy    float64
	hits    float64
}

// serve plans a contender on the training questions and serves the test
// questions.
func (t *stage) serve(ctx context.Context, k *contender) (*outcome, error) {
	o := &outcome{contender: k}
	gpus := make([]int, len(t.fleet.Models))
	for m, used := range k.uses {
		if used {
			gpus[m] = t.fleet.Models[m].GPUs
		}
	}
	p := &t.way.params
	if o.fits = serving.Fits(gpus, p.GPUs); !o.fits {
		return o, nil
	}
	calls, err := t.calls(t.train, k.train.who)
	if err != nil {
		return nil, err
	}
	var times []serving.Times
	o.split, err = serving.Search(gpus, p.GPUs, calls.Load, p.Splits, func(split []int) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		_, x, err := t.run(calls, split)
		if err != nil {
			return 0, err
		}
		times = append(times, x)
		o.splits = append(o.splits, t.splitRow(k, split, &x))
		return p.objective(&x), nil
	})
	if err != nil {
		return nil, err
	}
	for i := range o.splits {
		if o.splits[i].Split == t.text(o.split) {
			o.planned, o.splits[i].Best = times[i], true
		}
	}
	_, o.all = serving.Splits(gpus, p.GPUs, p.Splits)
	return o, t.judge(o)
}

// judge serves the test questions.
func (t *stage) judge(o *outcome) error {
	calls, err := t.calls(t.test, o.test.who)
	if err != nil {
		return err
	}
	result, times, err := t.run(calls, o.split)
	if err != nil {
		return err
	}
	o.served, o.calls = times, float64(len(calls.Module))/float64(t.test.Questions())
	var cached, prompt, busy, whole float64
	replica := 0
	for m, n := range o.split {
		for range n {
			busy += float64(result.Replicas[replica].BusyNs) * float64(t.fleet.Models[m].GPUs)
			whole += float64(result.EndNs) * float64(t.fleet.Models[m].GPUs)
			replica++
		}
	}
	for i, hit := range result.Cached {
		cached += float64(max(0, hit))
		prompt += float64(calls.Workload.Prompt[i])
	}
	o.busy, o.hits = busy/whole, cached/prompt
	return nil
}

// calls makes the requests of a contender.
func (t *stage) calls(d *drawn, who serving.Who) (*serving.Calls, error) {
	return d.Calls(len(t.fleet.Models), func(q, m int, to []int32) []int32 { return who(int(d.asked[q]), m, to) })
}

// run simulates calls under a split.
func (t *stage) run(calls *serving.Calls, split []int) (*cluster.Result, serving.Times, error) {
	result, err := t.fleet.Run(t.sim, calls, split, t.seed, t.replication)
	if err != nil {
		return nil, serving.Times{}, err
	}
	t.requests += int64(len(calls.Module))
	t.latencies = calls.Latencies(result, t.latencies)
	return result, serving.Sum(t.latencies, t.cut, int64(t.way.params.SLO.LatencyMs*1e6)), nil
}

// text writes a split.
func (t *stage) text(split []int) string {
	var parts []string
	for m, n := range split {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", t.way.names[m], n))
		}
	}
	return strings.Join(parts, " ")
}

// used is the GPUs of a split.
func (t *stage) used(split []int) (gpus int32) {
	for m, n := range split {
		gpus += int32(n * t.fleet.Models[m].GPUs)
	}
	return gpus
}

func (t *stage) splitRow(k *contender, split []int, x *serving.Times) SplitRow {
	row := SplitRow{Assignment: k.text, Split: t.text(split), Used: t.used(split),
		Mean: micros(x.Mean), P50: micros(x.P50), P99: micros(x.P99), Within: present(x.Within)}
	for _, n := range split {
		row.Replicas = append(row.Replicas, int32(n))
	}
	return row
}

// micros is a time of seconds in microseconds, nil where there is none.
func micros(seconds float64) *float64 { return present(seconds * 1e6) }

func present(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
