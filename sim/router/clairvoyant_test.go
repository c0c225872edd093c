package router

import (
	"math"
	"testing"

	"switchyard/sim/engine"
)

// simple is a step model with round figures: 1 us a prompt token, 100 us a
// decode step and 1 us a decode in it.
type simple struct{}

func (simple) StepNs(b engine.Batch) int64 {
	if b.Prefill > 0 {
		return 1000 * b.Prefill
	}
	return 100_000 + 1000*b.Tokens
}

// Prompts are 200 tokens: system 10, document 90, private 100. Outputs are 5.
func TestClairvoyant(t *testing.T) {
	s := newState(t, 3, []int64{1, 2}, 100)
	s.view.Gauges = make([]Gauge, 3)
	build := func(miss, decode float64) Router {
		return (&Clairvoyant{MissWeight: miss, DecodeWeight: decode}).Build(Env{Replicas: 3, Step: simple{}})
	}
	at := func(what string, r Router, want int, terms [3]float64) {
		t.Helper()
		s.view.Decision = new(Decision)
		got := r.Route(0, &s.view)
		d := s.view.Decision
		for k, x := range terms {
			if math.Abs(d.Terms[k][got]-x) > 1e-6 {
				t.Errorf("%s: term %d is %v, want %v", what, k, d.Terms[k][got], x)
			}
		}
		if got != want {
			t.Errorf("%s: goes to %d, want %d", what, got, want)
		}
		s.view.Decision = nil
		if again := r.Route(0, &s.view); again != got {
			t.Errorf("%s: goes to %d when nobody asks", what, again)
		}
	}
	// All are empty: prefill 200 us, 4 decodes of 101 us; the first index.
	at("empty", build(1, 1), 0, [3]float64{0, 200_000, 404_000})
	// Replica 1 gets document 1: 100 us there against 200 us.
	s.send(1, 0)
	at("affinity", build(1, 1), 1, [3]float64{0, 100_000, 404_000})
	// 99 tokens ahead there: 199 us against 200 us; with 101 it is 201 us.
	s.view.Gauges[1].Prefill = 99
	at("queue just worth it", build(1, 1), 1, [3]float64{99_000, 100_000, 404_000})
	s.view.Gauges[1].Prefill = 101
	at("queue not worth it", build(1, 1), 0, [3]float64{0, 200_000, 404_000})
	// A miss that counts twice: 101 + 200 against 400 us.
	at("miss weight", build(2, 1), 1, [3]float64{101_000, 200_000, 404_000})
	// Decodes: 25 others on 0 make 4 × 25 us more than on 2; those on 2 are none.
	s.view.Gauges[0].Running = 25
	at("decodes", build(1, 1), 2, [3]float64{0, 200_000, 404_000})
	at("decodes do not count", build(1, 0), 0, [3]float64{0, 200_000, 0})
	s.view.Up = []int32{1, 2}
	at("down", build(1, 0), 2, [3]float64{0, 200_000, 0})
}
