package router

import (
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

func assign(how string) func(Params) {
	return func(p Params) { p.(*ConsistentHash).Assign = how }
}

// Documents dealt in turn, by hand: the first to replica 0, the second to 1, the
// third to 2, the fourth to 0, and each again where it went. Of four on three
// replicas none has more than two, which on a ring depends on the hashes.
func TestKeysDealtByHand(t *testing.T) {
	var prompts []prompt
	for _, document := range []int64{7, 9, 7, 2, 9, 5, 2, 5, 7} {
		prompts = append(prompts, prompt{[]workload.Segment{seg(0, 10), seg(document, 400)}, 5, workload.None})
	}
	v := newPrompts(t, 3, prompts)
	v.Decision = new(Decision)
	r := routerOf(t, v, "consistent-hash", assign("in-turn"))
	want := []int{0, 1, 0, 2, 1, 0, 2, 0, 0}
	rules := []string{"dealt", "dealt", "owner", "dealt", "owner", "dealt", "owner", "owner", "owner"}
	for id := range prompts {
		if got := r.Route(int32(id), v); got != want[id] || v.Decision.Rule != rules[id] {
			t.Errorf("request %d goes to %d by %s, want %d by %s", id, got, v.Decision.Rule, want[id], rules[id])
		}
	}
	// Replica 0 goes: of its documents, 7 and 5, each gets the next of the others
	// when it is asked for, the fifth turn and the sixth; 9 and 2 stay.
	v.Up = []int32{1, 2}
	for _, c := range []struct {
		id   int32
		want int
	}{{0, 1}, {5, 2}, {1, 1}, {3, 2}, {7, 2}, {8, 1}} {
		if got := r.Route(c.id, v); got != c.want {
			t.Errorf("without replica 0 request %d goes to %d, want %d", c.id, got, c.want)
		}
	}
}

// Both ways against naive ones that compare texts: in turn, a document goes to
// the number of documents that came before its first request; modulo, equal
// documents go together, and all replicas are used.
func TestAssignmentsAgainstTexts(t *testing.T) {
	s := rng.New(9, 1, "dealt")
	for trial := range 30 {
		replicas := 1 + s.IntN(6)
		prompts := make([]prompt, 400)
		for i := range prompts {
			prompts[i] = prompt{[]workload.Segment{seg(0, 13), seg(int64(1+s.IntN(60)), 300)}, int32(1 + i), workload.None}
		}
		v := newPrompts(t, replicas, prompts)
		dealt, modulo := routerOf(t, v, "consistent-hash", assign("in-turn")), routerOf(t, v, "consistent-hash", assign("modulo"))
		var texts []string
		remainder := map[string]int{}
		count := make([]int, replicas)
		for id := range int32(len(prompts)) {
			document := text(prompts[id], 313)
			if !slices.Contains(texts, document) {
				texts = append(texts, document)
				remainder[document] = modulo.Route(id, v)
				count[remainder[document]]++
			}
			if got, want := dealt.Route(id, v), slices.Index(texts, document)%replicas; got != want {
				t.Fatalf("trial %d: request %d goes to %d of %d, dealt in turn to %d", trial, id, got, replicas, want)
			}
			if got, want := modulo.Route(id, v), remainder[document]; got != want {
				t.Fatalf("trial %d: a document goes to %d and to %d", trial, want, got)
			}
		}
		if slices.Min(count) == 0 {
			t.Errorf("trial %d: %d documents modulo %d replicas are %v", trial, len(texts), replicas, count)
		}
	}
}
