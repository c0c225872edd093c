package queueing

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// requestsOf returns times, sizes and servers of a run.
func requestsOf(t *testing.T, c *Config) (times, needs []int64, servers []int32) {
	t.Helper()
	sim := Sim{watch: func(b *block) {
		times = append(times, b.time[:b.n]...)
		needs = append(needs, b.need[:b.n]...)
		servers = append(servers, b.server[:b.n]...)
	}}
	if _, err := sim.Run(c, 1, 1); err != nil {
		t.Fatal(err)
	}
	return times, needs, servers
}

// All policies, on any system, see the same requests; another load changes the
// scale of times only.
func TestCommonRandomNumbers(t *testing.T) {
	times, needs, _ := requestsOf(t, NewConfig())
	for _, p := range Policies() {
		c := studyOf(func(c *Config) { c.Policy, c.System.Dispatchers, c.System.Discipline = p.New(), 3, "fcfs" })
		param.Defaults(c.Policy)
		otherTimes, otherNeeds, _ := requestsOf(t, c)
		if !slices.Equal(times, otherTimes) || !slices.Equal(needs, otherNeeds) {
			t.Errorf("%s sees other requests than random", p.Name)
		}
	}
	half, halfNeeds, _ := requestsOf(t, studyOf(func(c *Config) { c.Traffic.Load = 0.45 }))
	if !slices.Equal(needs, halfNeeds) {
		t.Error("sizes depend on the load")
	}
	for k := range times {
		if d := half[k] - 2*times[k]; d < -60000 || d > 60000 { // a rounding each
			t.Fatalf("request %d comes at %d, at half the load at %d", k, times[k], half[k])
		}
	}
}

// A study in another unit of time, or with all servers twice as fast at the
// same load, is the same study.
func TestScales(t *testing.T) {
	base := runs(t, studyOf(func(c *Config) { c.Policy = shortest }), 1)[0]
	unit := runs(t, studyOf(func(c *Config) { c.Policy, c.Sizes = shortest, &ExponentialSizes{Scale{250}} }), 1)[0]
	fast := runs(t, studyOf(func(c *Config) { c.Policy, c.System.Speeds = shortest, []float64{2} }), 1)[0]
	for what, factor := range map[string]float64{"mean": unit.Mean / base.Mean, "P99": unit.P99 / base.P99, "deviation": unit.SD / base.SD, "wait": unit.Wait / base.Wait} {
		if math.Abs(factor/250-1) > 1e-6 {
			t.Errorf("sizes of mean 250 make the %s %g times as large", what, factor)
		}
	}
	if math.Abs(fast.Mean/base.Mean-0.5) > 1e-6 || math.Abs(fast.Utilisation-base.Utilisation) > 1e-6 {
		t.Errorf("speed 2 makes the mean %g times as large", fast.Mean/base.Mean)
	}
}

// central-queue and LWL give every request the same response.
func TestCentralQueueIsLWL(t *testing.T) {
	for _, sizes := range []Sizes{&ExponentialSizes{unit}, &DeterministicSizes{unit}, &ParetoSizes{unit, 1.5}} {
		a := runs(t, studyOf(func(c *Config) { c.Policy, c.Sizes = &CentralQueue{randomTies}, sizes }), 1)[0]
		b := runs(t, studyOf(func(c *Config) { c.Policy, c.Sizes = &LWL{Ties: firstTies}, sizes }), 1)[0]
		c := runs(t, studyOf(func(c *Config) {
			c.Policy, c.Sizes = &ExpectedWork{Knowledge: 1, Progress: true, Ties: firstTies}, sizes
		}), 1)[0]
		if a.Mean != b.Mean || a.P99 != b.P99 || a.Mean != c.Mean || a.Max != c.Max {
			t.Errorf("%T: central queue %v %v, LWL %v %v, known sizes %v", sizes, a.Mean, a.P99, b.Mean, b.P99, c.Mean)
		}
	}
}

// The axis of knowledge runs from JSQ to LWL.
func TestKnowledge(t *testing.T) {
	with := func(p Params) *Config {
		return studyOf(func(c *Config) { c.Policy, c.Sizes = p, &LognormalSizes{Scale: unit, C2: 8} })
	}
	_, _, jsq := requestsOf(t, with(&JSQ{Ties: firstTies}))
	_, _, unknown := requestsOf(t, with(&ExpectedWork{Knowledge: 0, Ties: firstTies}))
	if !slices.Equal(jsq, unknown) {
		t.Error("nothing known and no progress seen is not JSQ")
	}
	var means []float64
	for _, k := range []float64{1, 0.5, 0} {
		m, _ := average(runs(t, with(&ExpectedWork{Knowledge: k, Progress: true, Ties: randomTies}), 10), meanOf)
		means = append(means, m)
	}
	if !(means[0] < means[1] && means[1] < means[2]) {
		t.Errorf("known, half known and unknown sizes have the means %.3f, expected rising ones", means)
	}
	noisy, _ := average(runs(t, with(&ExpectedWork{Knowledge: 1, Noise: 1, Progress: true, Ties: randomTies}), 10), meanOf)
	if noisy <= means[0] {
		t.Errorf("noise of 1 has the mean %.3f, without %.3f", noisy, means[0])
	}
}

// What a result says of itself fits together, on every discipline.
func TestResultAddsUp(t *testing.T) {
	for _, discipline := range []string{"fcfs", "ps"} {
		c := studyOf(func(c *Config) {
			c.System.Speeds, c.System.Discipline = []float64{1, 2}, discipline
			c.Policy, c.Traffic.Load, c.Traffic.Requests, c.WarmUp = &JSQ{Ties: randomTies, Self: Self{true}}, 0.7, 400_000, 0.25
			c.Sizes = &BoundedParetoSizes{unit, 1.5, 1000}
		})
		r := runs(t, c, 1)[0]
		var sent, classed int64
		var mean, slowdown float64
		for _, n := range r.ServerRequests {
			sent += n
		}
		for _, class := range r.Classes {
			classed += class.Requests
			mean += class.Mean * float64(class.Requests)
			slowdown += class.Slowdown * float64(class.Requests)
			if share := float64(class.Requests) / float64(r.Requests); math.Abs(share-0.25) > 0.005 {
				t.Errorf("a quarter of the sizes has %.4f of the requests", share)
			}
		}
		if r.Requests != 300_000 || sent != r.Requests || classed != r.Requests {
			t.Errorf("%d measured, %d sent, %d in classes, expected 300000", r.Requests, sent, classed)
		}
		within(t, "mean of the classes", mean/float64(classed), 0, r.Mean, 1e-9)
		within(t, "slowdown of the classes", slowdown/float64(classed), 0, r.Slowdown, 1e-9)
		within(t, "mean of the halves", (r.Halves[0]+r.Halves[1])/2, 0, r.Mean, 1e-4)
		within(t, "utilisation", r.Utilisation, 0, 0.7, 0.03)
		within(t, "servers that are not empty", r.Lengths[1], 0, (average1(r.ServerUtilisation)), 0.02)
		// Little's law: requests in the system over all servers.
		var inSystem float64
		for _, share := range r.Lengths[1:] {
			inSystem += share * 16
		}
		within(t, "requests in the system", inSystem, 0, c.Rate()*r.Mean, 0.03)
		if r.Slowdown < 0.5 || r.Wait <= 0 || r.Wait >= r.Mean || r.Max < r.P999 {
			t.Errorf("slowdown %g, wait %g of %g, maximum %g", r.Slowdown, r.Wait, r.Mean, r.Max)
		}
		for _, q := range [][2]float64{{0.5, r.P50}, {0.9, r.P90}, {0.99, r.P99}, {0.999, r.P999}, {1, r.Max}} {
			if got := r.Quantile(q[0]); got != q[1] {
				t.Errorf("Quantile(%g) is %g, the field %g", q[0], got, q[1])
			}
		}
	}
}

func average1(xs []float64) (mean float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	return mean
}

// Runs are functions of their arguments: whatever the Sim has done before, and
// down to the bits of the results and choices of all policies.
func TestDeterminism(t *testing.T) {
	sum := sha256.New()
	var used Sim
	for _, p := range Policies() {
		for _, model := range []string{"live", "periodic", "continuous", "continuous-exponential", "individual", "own"} {
			c := studyOf(func(c *Config) {
				c.Policy, c.Information = p.New(), Information{Model: model, Age: 1, Corrections: model == "periodic"}
				c.Traffic.Requests, c.WarmUp, c.Sizes = 2000, 0.1, &BoundedParetoSizes{unit, 1.5, 100}
			})
			if model == "live" || model == "own" {
				c.Information.Age = 0
			}
			param.Defaults(c.Policy)
			if c.Validate() != nil {
				continue
			}
			a, err := used.Run(c, 3, 4)
			if err != nil {
				t.Fatal(err)
			}
			b, err := new(Sim).Run(c, 3, 4)
			if err != nil {
				t.Fatal(err)
			}
			if x, y := fmt.Sprint(a.Mean, a.P99, a.Classes, a.ServerRequests), fmt.Sprint(b.Mean, b.P99, b.Classes, b.ServerRequests); x != y {
				t.Errorf("%s %s: a used Sim gives %s, a new one %s", p.Name, model, x, y)
			}
			if err := binary.Write(sum, binary.LittleEndian, a.ServerRequests); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(sum, "%s %s %.9g %.9g", p.Name, model, a.Mean, a.P99)
		}
	}
	const golden = "cbd00b44d4c3b3f6"
	if got := fmt.Sprintf("%x", sum.Sum(nil)[:8]); got != golden {
		t.Errorf("digest of all policies' results is %s, expected %s", got, golden)
	}
}

// Blocks do not show: a run's requests are the first of a longer run.
func TestBlocksDoNotShow(t *testing.T) {
	for _, requests := range []int64{1, 2, blockSize - 1, blockSize, blockSize + 1, 5000} {
		for _, cut := range []float64{0, 0.001, 0.5, 0.999} {
			c := studyOf(func(c *Config) { c.Policy, c.Traffic.Requests = shortest, 6000 })
			_, _, long := requestsOf(t, c)
			c.Traffic.Requests, c.WarmUp = requests, cut
			_, _, short := requestsOf(t, c)
			if !slices.Equal(short, long[:requests]) {
				t.Fatalf("%d requests, cut %g: other choices than in a longer run", requests, cut)
			}
			r := runs(t, c, 1)[0]
			if want := requests - min(int64(cut*float64(requests)), requests-1); r.Requests != want || math.IsNaN(r.Mean) {
				t.Errorf("%d requests, cut %g: %d are measured, expected %d; mean %g", requests, cut, r.Requests, want, r.Mean)
			}
		}
	}
}

// A request costs no allocation.
func TestNoAllocations(t *testing.T) {
	for _, p := range Policies() {
		c := studyOf(func(c *Config) { c.Policy, c.Traffic.Load = p.New(), 0.8 })
		param.Defaults(c.Policy)
		var sim Sim
		allocations := func(requests int64) float64 {
			c.Traffic.Requests = requests
			return testing.AllocsPerRun(2, func() {
				if _, err := sim.Run(c, 1, 1); err != nil {
					t.Fatal(err)
				}
			})
		}
		allocations(100_000)
		if few, many := allocations(10_000), allocations(100_000); many > few+100 {
			t.Errorf("%s: %g allocations at 10,000 requests, %g at 100,000", p.Name, few, many)
		}
	}
}

func TestQuantilesBySorting(t *testing.T) {
	s := rng.New(1, 1, "quantiles")
	ps := []float64{0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.9999, 1}
	for _, n := range []int{1, 2, 3, 10, 1000, 20000} {
		xs := make([]int64, n)
		counts := make([]int64, bins)
		for i := range xs {
			xs[i] = 1 + int64(math.Exp(40*s.Float64()))
			if s.IntN(3) == 0 {
				xs[i] = 1 << 30
			}
			counts[binOf(float64(xs[i]))]++
		}
		sorted := slices.Clone(xs)
		slices.Sort(sorted)
		exact, sketched := exactQuantiles(xs, counts, ps), sketchQuantiles(counts, ps)
		for i, p := range ps {
			h := p * float64(n-1)
			lo := int(h)
			hi := min(lo+1, n-1)
			want := float64(sorted[lo]) + (h-float64(lo))*float64(sorted[hi]-sorted[lo])
			if math.Abs(exact[i]-want) > 1e-9*want {
				t.Errorf("%d values: %g-quantile is %g, expected %g", n, p, exact[i], want)
			}
			if math.Abs(sketched[i]-want) > SketchError*want*(1+1e-9) {
				t.Errorf("%d values: %g-quantile by bins is %g, expected %g within %g", n, p, sketched[i], want, SketchError)
			}
		}
	}
	if q := sketchQuantiles(make([]int64, bins), []float64{0.5}); !math.IsNaN(q[0]) {
		t.Errorf("the median of nothing is %g", q[0])
	}
}

func TestBitset(t *testing.T) {
	s := rng.New(1, 1, "bitset")
	for range 2000 {
		n := 1 + s.IntN(200)
		set := make(bitset, words(n))
		var members []int
		for i := range n {
			if s.IntN(pickOf(s, 1, 2, 20)) == 0 {
				set.add(i)
				members = append(members, i)
			}
		}
		if len(members) == 0 {
			continue
		}
		j, at := s.IntN(len(members)), s.IntN(n)
		if got := set.member(j); got != members[j] {
			t.Fatalf("member %d of %v is %d", j, members, got)
		}
		want, _ := slices.BinarySearch(members, at)
		if got := set.from(at); got != members[want%len(members)] {
			t.Fatalf("the first of %v from %d is %d", members, at, got)
		}
	}
}

func TestTournament(t *testing.T) {
	s := rng.New(1, 1, "tournament")
	for range 300 {
		n := 1 + s.IntN(40)
		tree := newTournament(n)
		keys := make([]int64, n)
		for i := range keys {
			keys[i] = never
		}
		for range 100 {
			i := s.IntN(n)
			keys[i] = int64(s.IntN(6))
			tree.set(i, keys[i])
			least := minimal(keys)
			if m := tree.min(); m.key != keys[least[0]] || m.id != least[0] {
				t.Fatalf("the least of %v is %+v", keys, m)
			}
			if got := tree.winners(nil); !slices.Equal(got, least) {
				t.Fatalf("the least of %v are %v", keys, got)
			}
			if tree.unique(least[0]) != (len(least) == 1) {
				t.Fatalf("unique is wrong for %v", keys)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		"servers: value 0":                      func(c *Config) { c.System.Servers = 0 },
		"discipline":                            func(c *Config) { c.System.Discipline = "lifo" },
		"warm_up: value 1":                      func(c *Config) { c.WarmUp = 1 },
		"choices: value 3":                      func(c *Config) { c.System.Servers, c.Policy = 2, p3 },
		"central-queue holds requests back":     func(c *Config) { c.System.Discipline, c.Policy = "ps", &CentralQueue{randomTies} },
		"central-queue holds requests back in":  func(c *Config) { c.Information, c.Policy = periodic(1), &CentralQueue{randomTies} },
		"least-expected-work needs live":        func(c *Config) { c.Information, c.Policy = periodic(1), &ExpectedWork{Ties: randomTies} },
		"lwl sees remaining work":               func(c *Config) { c.Information, c.Policy = Information{Model: "own"}, &LWL{Ties: randomTies} },
		"at most the 2 given times":             func(c *Config) { c.Arrivals = &Times{Values: []float64{1, 2}} },
		"times: value 1: expected finite times": func(c *Config) { c.Arrivals = &Times{Values: []float64{2, 1}} },
		"at least two times":                    func(c *Config) { c.Arrivals = &Times{Values: []float64{2, 2}} },
		"at most the 1 given sizes":             func(c *Config) { c.Sizes = &EmpiricalSizes{Values: []float64{2}, InOrder: true} },
		"sizes with a positive mean":            func(c *Config) { c.Sizes = &EmpiricalSizes{Values: []float64{0, 0}} },
		"a run of at most":                      func(c *Config) { c.System.Servers, c.Traffic.Load, c.Traffic.Requests = 1, 0.01, 4_000_000_000 },
		"needs arrivals, sizes and a policy":    func(c *Config) { c.Policy = nil },
	} {
		c := studyOf(change)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, expected one with %q", err, want)
		}
		if _, err := new(Sim).Run(c, 1, 1); err == nil {
			t.Errorf("it ran: %q", want)
		}
	}
}

func TestTables(t *testing.T) {
	for _, p := range Policies() {
		if p.Summary == "" || p.Needs == "" || p.Freshness == "" || p.Breaks == "" || p.TieBreak == "" || p.Speeds == "" || p.Source == "" {
			t.Errorf("policy %s leaves something open: %+v", p.Name, p)
		}
		if found, ok := FindPolicy(p.Name); !ok || found.Name != p.Name || PolicyOf(p.New()).Name != p.Name {
			t.Errorf("policy %s is not found", p.Name)
		}
		for _, f := range param.Fields(p.New()) {
			if f.Doc == "" {
				t.Errorf("policy %s: parameter %s has no doc", p.Name, f.Name)
			}
		}
	}
	for _, l := range SizeLaws() {
		s := l.New()
		param.Defaults(s)
		if e, ok := s.(*EmpiricalSizes); ok {
			e.Values = []float64{1, 5}
		}
		if err := param.Validate(s); err != nil {
			t.Errorf("law %s: %v", l.Name, err)
		}
		if mean := s.Law().Mean(); math.Abs(mean-1) > 1e-12 {
			t.Errorf("law %s has the mean %g by default, expected 1", l.Name, mean)
		}
	}
	for _, p := range Processes() {
		if _, ok := FindProcess(p.Name); !ok {
			t.Errorf("process %s is not found", p.Name)
		}
	}
	if _, ok := FindPolicy("jsp"); ok {
		t.Error("policy jsp is found")
	}
}

// Given times are taken in order, scaled to the load or as they are.
func TestGivenTimes(t *testing.T) {
	given := []float64{10, 11, 11, 15, 18}
	c := studyOf(func(c *Config) {
		c.Traffic.Requests, c.Arrivals = 5, &Times{Values: given, KeepRate: true}
		c.Sizes = &EmpiricalSizes{Values: []float64{4, 1, 1, 2, 2}, InOrder: true}
	})
	times, needs, _ := requestsOf(t, c)
	for k := range times {
		if want := ticksOf((given[k] - 10) / 2); times[k]-want > 2 || want-times[k] > 2 { // the mean size is 2
			t.Errorf("request %d comes at %d, expected %d", k, times[k], want)
		}
	}
	if needs[0] != 2*ticksPerMean || needs[1] != ticksPerMean/2 {
		t.Errorf("sizes are %v ticks", needs)
	}
	if load := c.Load(); math.Abs(load-2.0/2/16) > 1e-12 {
		t.Errorf("the load is %g, expected that of the times", load)
	}
	c.Arrivals = &Times{Values: given}
	times, _, _ = requestsOf(t, c)
	if want := ticksOf(4 / (0.9 * 16)); times[4]-want > 4 || want-times[4] > 4 {
		t.Errorf("the last of 5 scaled requests comes at %d, expected %d", times[4], want)
	}
}

// TestBacklogGrowth: of work that arrives at twice the speed half is left over; below
// full load nothing is, in the long run.
func TestBacklogGrowth(t *testing.T) {
	for _, discipline := range []string{"fcfs", "ps"} {
		for load, want := range map[float64]float64{0.5: 0, 2: 0.5} {
			r := runs(t, studyOf(func(c *Config) {
				c.System.Servers, c.System.Discipline, c.Traffic.Load, c.Traffic.Requests = 1, discipline, load, 1000
				c.Arrivals, c.Sizes = &Deterministic{}, &DeterministicSizes{unit}
			}), 1)[0]
			if math.Abs(r.Growth-want) > 0.005 || math.Abs(r.HalfTime-499/load) > 1e-6 {
				t.Errorf("%s at load %v: the backlog grows by %v over %v, want %v over %v", discipline, load, r.Growth, r.HalfTime, want, 499/load)
			}
		}
	}
}
