package workload

import (
	"math"
	"testing"

	"switchyard/sim/param"
)

func starts(t *testing.T, p Process, n int, perSession float64, replication int) []Start {
	t.Helper()
	next, err := p.Starts(&Env{Seed: 1, Replication: replication, Requests: n}, n, perSession)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]Start, n)
	for i := range out {
		out[i] = next()
	}
	return out
}

// Gaps have the mean of the rate and the coefficient of variation of the
// process.
func TestGaps(t *testing.T) {
	const n = 100000
	for _, c := range []struct {
		p  Process
		cv float64
	}{
		{&Poisson{Rate{8}}, 1},
		{&Deterministic{Rate{8}}, 0},
		{&GammaGaps{Rate{8}, 0.5}, 0.5},
		{&GammaGaps{Rate{8}, 1}, 1},
		{&GammaGaps{Rate{8}, 3}, 3},
	} {
		s := starts(t, c.p, n, 1, 1)
		gaps := make([]float64, n-1)
		for i := range gaps {
			gaps[i] = float64(s[i+1].ArrivalUs-s[i].ArrivalUs) / 1e6
			if gaps[i] < 0 || s[i+1].After != None {
				t.Fatalf("%T: start %d is %+v", c.p, i+1, s[i+1])
			}
		}
		mean, sd := meanSD(gaps)
		if s[0].ArrivalUs != 0 || math.Abs(mean*8-1) > 5*c.cv/math.Sqrt(n)+1e-5 {
			t.Errorf("%T: first arrival at %d, mean gap %g s, expected 0 and %g", c.p, s[0].ArrivalUs, mean, 1./8)
		}
		if math.Abs(sd/mean-c.cv) > .06*c.cv+1e-5 {
			t.Errorf("%T: coefficient of variation is %.3f, expected %g", c.p, sd/mean, c.cv)
		}
	}
}

// Two rates share their uniforms: times are the same up to the factor.
func TestRatesShareUniforms(t *testing.T) {
	for _, pair := range [][2]Process{
		{&Poisson{Rate{1}}, &Poisson{Rate{4}}},
		{&GammaGaps{Rate{1}, 2}, &GammaGaps{Rate{4}, 2}},
	} {
		slow, fast := starts(t, pair[0], 1000, 1, 3), starts(t, pair[1], 1000, 1, 3)
		for i := range slow {
			if d := slow[i].ArrivalUs - 4*fast[i].ArrivalUs; d < 0 || d > 3 {
				t.Fatalf("%T: arrival %d is at %d us and, at four times the rate, at %d us", pair[0], i, slow[i].ArrivalUs, fast[i].ArrivalUs)
			}
		}
	}
	few, many := starts(t, &Poisson{Rate{1}}, 100, 1, 3), starts(t, &Poisson{Rate{1}}, 100, 14, 3)
	if r := float64(many[99].ArrivalUs) / float64(few[99].ArrivalUs); math.Abs(r-14) > 1e-6 {
		t.Errorf("sessions of 14 requests start %.4f times as rarely as single ones, expected 14", r)
	}
}

func TestClosedLoop(t *testing.T) {
	p := &ClosedLoop{Users: 4, Think: 2, Thinking: "exponential"}
	s := starts(t, p, 20000, 1, 1)
	var sum float64
	for i, start := range s {
		if start.User != int64(i%4) {
			t.Fatalf("start %d is user %d's", i, start.User)
		}
		if i < 4 {
			if start.After != None || start.ArrivalUs < 0 || i > 0 && start.ArrivalUs < s[i-1].ArrivalUs {
				t.Fatalf("start %d is %+v, expected a time not before the one in front", i, start)
			}
			continue
		}
		if start.After != int32(i-4) {
			t.Fatalf("start %d waits for %d, expected %d", i, start.After, i-4)
		}
		sum += float64(start.ThinkUs)
	}
	if mean := sum / 19996 / 1e6; math.Abs(mean-2) > .1 {
		t.Errorf("mean think time is %.3f s, expected 2", mean)
	}
	for _, name := range []string{"tool-use", "chat"} {
		w, err := (&Spec{Seed: 1, Replication: 1, Requests: 500, Generator: defaults(t, name), Arrivals: p}).Build()
		if err != nil {
			t.Fatal(err)
		}
		checkForest(t, w)
		free := 0
		for _, after := range w.After {
			if after == None {
				free++
			}
		}
		if free != 4 {
			t.Errorf("%s: %d requests wait for no other, expected one a user", name, free)
		}
	}
}

func TestRecordedTimes(t *testing.T) {
	s := starts(t, &Recorded{TimesUs: []int64{7, 9, 9, 30}}, 4, 1, 1)
	for i, want := range []int64{0, 2, 2, 23} {
		if s[i].ArrivalUs != want {
			t.Errorf("arrival %d is at %d, expected %d", i, s[i].ArrivalUs, want)
		}
	}
	if _, err := (&Recorded{TimesUs: []int64{1}}).Starts(&Env{}, 2, 1); err == nil {
		t.Error("a trace of one time started two sessions")
	}
}

// Open sessions have times for all turns and wait for none; a closed loop
// cannot give them any.
func TestOpenPace(t *testing.T) {
	g := defaults(t, "embodied-agent").(*Embodied)
	g.Turns, g.Think = "open", 3
	w, err := (&Spec{Seed: 1, Replication: 1, Requests: 400, Generator: g, Arrivals: &Poisson{Rate{5}}}).Build()
	if err != nil {
		t.Fatal(err)
	}
	checkForest(t, w)
	if w.Closed() {
		t.Error("a request of an open workload waits for another")
	}
	last := map[int64]int{}
	for i, s := range w.Session {
		if j, ok := last[s]; ok {
			if least := nominalTokenUs * int64(w.Output[j]); w.ArrivalUs[i]-w.ArrivalUs[j] < least {
				t.Fatalf("turn %d arrives %d us behind the one before it, expected at least %d", i, w.ArrivalUs[i]-w.ArrivalUs[j], least)
			}
		}
		last[s] = i
	}
	if _, err := (&Spec{Seed: 1, Replication: 1, Requests: 400, Generator: g, Arrivals: &ClosedLoop{Users: 2}}).Build(); err == nil {
		t.Error("open sessions ran in a closed loop")
	}
}

// The rate of a workload of sessions counts requests.
func TestRateCountsRequests(t *testing.T) {
	g := defaults(t, "embodied-agent").(*Embodied)
	g.Turns = "open"
	w, err := (&Spec{Seed: 1, Replication: 1, Requests: 20000, Generator: g, Arrivals: &Poisson{Rate{5}}}).Build()
	if err != nil {
		t.Fatal(err)
	}
	if rate := 20000 / (float64(w.ArrivalUs[19999]) / 1e6); math.Abs(rate/5-1) > .1 {
		t.Errorf("requests arrive at %.2f a second, expected 5", rate)
	}
}

func TestProcessDefaults(t *testing.T) {
	for _, entry := range Processes() {
		p := entry.New()
		param.Defaults(p)
		if found, ok := FindProcess(entry.Name); !ok || found.Name != entry.Name {
			t.Errorf("process %s is not found", entry.Name)
		}
	}
}
