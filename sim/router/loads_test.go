package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/workload"
)

func plain(t testing.TB, replicas, requests int) *View {
	prompts := make([]prompt, requests)
	for i := range prompts {
		prompts[i] = prompt{rest: 10, session: workload.None}
	}
	return newPrompts(t, replicas, prompts)
}

// Scores 4*waiting + running by hand, ties, and what a pick adds until the next
// statistics.
func TestVLLMDP(t *testing.T) {
	v := plain(t, 3, 1)
	gauges := func(wr ...int32) {
		for i := range v.Gauges {
			v.Gauges[i] = Gauge{Waiting: wr[2*i], Running: wr[2*i+1], Read: true}
		}
		v.Reads++
	}
	r := routerOf(t, v, "vllm-dp", nil)
	for _, c := range []struct {
		wr   []int32
		want []int // one pick after another
	}{
		{[]int32{0, 0, 0, 0, 0, 0}, []int{0, 1, 2, 0}},  // all tie: first, then 4 against 0
		{[]int32{1, 0, 0, 5, 0, 4}, []int{0, 2, 1, 0}},  // 4, 5, 4: first; 8, 5, 4; 8, 5, 8; 8, 9, 8
		{[]int32{1, 1, 0, 5, 0, 6}, []int{0, 1, 2}},     // 5, 5, 6: first of the tie; 9, 5, 6; 9, 9, 6
		{[]int32{0, 9, 2, 0, 3, 0}, []int{1, 0, 1, 2}},  // 9, 8, 12; 9, 12, 12; 13, 12, 12; 13, 16, 12
		{[]int32{0, 40, 9, 3, 9, 4}, []int{1, 0, 2, 1}}, // 40, 39, 40; 40, 43, 40; 44, 43, 40; 44, 43, 44
	} {
		gauges(c.wr...)
		for i, want := range c.want {
			got := r.Route(0, v)
			v.Gauges[got].Waiting++ // as the view corrects
			if got != want {
				t.Errorf("statistics %v, pick %d goes to %d, want %d", c.wr, i, got, want)
			}
		}
	}
	v.Up = []int32{1, 2}
	gauges(0, 0, 1, 0, 1, 0)
	if got := r.Route(0, v); got != 1 {
		t.Errorf("with the least loaded down the choice is %d, want 1", got)
	}
}

// Client 1 of 2 scans four engines from 4*1/2 = 2 on, and adds 2 a pick.
func TestVLLMDPClients(t *testing.T) {
	v := plain(t, 4, 1)
	p := &VLLMDP{PollMs: 100, WaitingWeight: 4}
	r := p.Build(Env{Replicas: 4, Routers: 2, Router: 1})
	var got []int
	pick := func() {
		i := r.Route(0, v)
		v.Gauges[i].Waiting++
		got = append(got, i)
	}
	for range 5 {
		pick()
	}
	if want := []int{2, 3, 0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("picks %v, want %v", got, want)
	}
	copy(v.Gauges, []Gauge{{Running: 15}, {Running: 16}, {}, {Running: 8}})
	v.Reads++ // scores 15, 16, 0, 8; a pick adds 4*2
	got = got[:0]
	for range 5 {
		pick()
	}
	// 2 to 8; tie of 2 and 3 at 8: 2, to 16; 3 to 16; 0 (15), to 23; ties at 16: 2.
	if want := []int{2, 2, 3, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("picks %v, want %v", got, want)
	}
	if on := p.Reads(); !on.On || on.PeriodNs != 100e6 || !on.Corrected {
		t.Errorf("reads %+v", on)
	}
}

// With replacement: of two draws over two replicas both fall on the more loaded
// one a quarter of the time.
func TestEnvoyChoices(t *testing.T) {
	v := plain(t, 2, 1)
	v.Requests = []int32{3, 1}
	share := func(name string, change func(Params), replica int) float64 {
		r := routerOf(t, v, name, change)
		n := 0
		for range 40000 {
			if r.Route(0, v) == replica {
				n++
			}
		}
		return float64(n) / 40000
	}
	if got := share("envoy-least-request", nil, 0); math.Abs(got-.25) > .011 {
		t.Errorf("the more loaded of two gets %.4f, want 1/4 within five standard errors", got)
	}
	three := func(p Params) { p.(*Envoy).Choices = 3 }
	if got := share("envoy-least-request", three, 0); math.Abs(got-.125) > .0083 {
		t.Errorf("with three draws the more loaded of two gets %.4f, want 1/8", got)
	}
	scan := func(p Params) { p.(*Envoy).Selection = "full-scan" }
	if got := share("envoy-least-request", scan, 1); got != 1 {
		t.Errorf("a full scan takes the least loaded %.4f of the time", got)
	}
	v.Requests = []int32{1, 1}
	if got := share("envoy-least-request", scan, 1); math.Abs(got-.5) > .0125 {
		t.Errorf("ties of a full scan go to the second %.4f of the time", got)
	}
	equal := func(p Params) { p.(*Envoy).Weights = []float64{2, 2} }
	v.Requests = []int32{3, 1}
	if got := share("envoy-least-request", equal, 0); math.Abs(got-.25) > .011 {
		t.Errorf("equal weights are no weights: the more loaded gets %.4f, want 1/4", got)
	}
}

// Earliest deadline first by hand, weights 1 and 2: deadlines 1 and .5.
func TestEnvoyWeights(t *testing.T) {
	v := plain(t, 2, 1)
	picks := func(bias float64, n int) (got []int) {
		r := routerOf(t, v, "envoy-least-request", func(p Params) {
			p.(*Envoy).Weights, p.(*Envoy).Bias = []float64{1, 2}, bias
		})
		for range n {
			got = append(got, r.Route(0, v))
		}
		return got
	}
	// Idle: 1 at .5, its next at 1; tie at 1 goes to 0, next at 2; 1 at 1, 1.5, then the tie at 2.
	if got, want := picks(1, 6), []int{1, 0, 1, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("idle: %v, want %v", got, want)
	}
	v.Requests = []int32{0, 3} // weights 1 and 2/4: steps of 1 and 2
	// 1 at .5, next 2.5; 0 at 1, 2, next 3; 1 at 2.5, next 4.5; 0 at 3, 4, next 5; 1.
	if got, want := picks(1, 7), []int{1, 0, 0, 1, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("loaded: %v, want %v", got, want)
	}
	if got, want := picks(0, 6), []int{1, 0, 1, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("bias 0 looks at loads: %v, want %v", got, want)
	}
	// Bias 2: weight 2/16, a step of 8: 1 at .5, then 0 at 1 to 8, then the one at 8.5.
	if got, want := picks(2, 10), []int{1, 0, 0, 0, 0, 0, 0, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("bias 2: %v, want %v", got, want)
	}
	// A replica that comes back late has one turn, not all that it missed.
	v.Requests = []int32{0, 0}
	r := routerOf(t, v, "envoy-least-request", func(p Params) { p.(*Envoy).Weights = []float64{1, 2} })
	v.Up = []int32{1}
	for range 20 {
		r.Route(0, v)
	}
	v.Up = all(2)
	r.(Follower).Came(0, v) // now 10: its turn is at 11, beside 10.5 and 11
	got := []int{r.Route(0, v), r.Route(0, v), r.Route(0, v)}
	if want := []int{1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("after a return: %v, want %v", got, want)
	}
}
