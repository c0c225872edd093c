package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// Scores 2*overlap - usage - waiting/max by hand: a prompt of 160 tokens, a KV
// capacity of 100,000.
func TestDynamo01(t *testing.T) {
	for _, c := range []struct {
		name    string
		cached  []int32
		usage   []int64
		waiting []int32
		want    []int
	}{
		{"nothing known", []int32{0, 0, 0}, []int64{0, 0, 0}, []int32{0, 0, 0}, []int{0, 1, 2}},
		{"any block counts", []int32{0, 16, 0}, []int64{0, 0, 0}, []int32{0, 0, 0}, []int{1}},
		{"less than a block does not", []int32{0, 15, 0}, []int64{0, 0, 0}, []int32{0, 0, 0}, []int{0, 1, 2}},
		// 2*80/160 = 1 against a full cache: tie at 0.
		{"overlap against usage", []int32{0, 80, 0}, []int64{0, 100000, 1}, []int32{0, 0, 0}, []int{0, 1}},
		{"a bit less usage", []int32{0, 80, 0}, []int64{0, 99999, 1}, []int32{0, 0, 0}, []int{1}},
		// One waiting request where nobody else has any costs as much as forty.
		{"waiting is relative", []int32{0, 80, 64}, []int64{0, 0, 0}, []int32{0, 1, 0}, []int{2}},
		// 2*.5 - 1 = 0; 2*.4 - .5 = .3; 0.
		{"half as many", []int32{0, 80, 64}, []int64{0, 0, 0}, []int32{0, 40, 20}, []int{2}},
		// .8 - 32/40 = 0 too: all tie.
		{"tie of all", []int32{0, 80, 64}, []int64{0, 0, 0}, []int32{0, 40, 32}, []int{0, 1, 2}},
	} {
		v := newPrompts(t, 3, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		for i := range v.Gauges {
			holds(v, i, 0, c.cached[i])
			v.Gauges[i] = Gauge{Waiting: c.waiting[i], KVTokens: c.usage[i], Read: true}
		}
		got := choices(v, 0, func(seed uint64) Router {
			p := &DynamoKV01{BlockTokens: 16, OverlapWeight: 2}
			return p.Build(Env{Replicas: 3, Random: rng.New(seed, 1, "d"), Work: v.Work})
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: chooses among %v, want %v", c.name, got, c.want)
		}
	}
}

// What a decision says of itself.
func TestDynamo01Explains(t *testing.T) {
	v := newPrompts(t, 2, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
	holds(v, 1, 0, 90)
	v.Gauges = []Gauge{{Waiting: 1, KVTokens: 25000}, {Waiting: 2, KVTokens: 50000}}
	v.Decision = new(Decision)
	r := routerOf(t, v, "dynamo-kv-0.1", nil)
	if got := r.Route(0, v); got != 1 || v.Believed != 80 {
		t.Errorf("goes to %d with %d believed, want 1 with 80", got, v.Believed)
	}
	// 0 - .25 - .5 and 1 - .5 - 1.
	if d := v.Decision; math.Abs(d.Score[0]+.75) > 1e-12 || math.Abs(d.Score[1]+.5) > 1e-12 || d.Cached[0] != 0 || d.Cached[1] != 80 {
		t.Errorf("scores %v, cached %v", d.Score, d.Cached)
	}
}
