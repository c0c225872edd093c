package router

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// prompt is a request by hand: the path of segments (id, tokens), a private
// rest, and a session.
type prompt struct {
	path    []workload.Segment
	rest    int32
	session int64
}

// newPrompts makes a cluster that has seen nothing, and requests.
func newPrompts(t testing.TB, replicas int, prompts []prompt) *View {
	t.Helper()
	var b workload.Builder
	for _, p := range prompts {
		r := workload.Request{After: workload.None, Session: p.session, OutputID: workload.None, Output: 5, Prompt: p.rest, Segments: p.path}
		for _, s := range p.path {
			r.Prompt += s.Tokens
		}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Replicas: replicas, Up: all(replicas), Requests: make([]int32, replicas), Tokens: make([]int64, replicas), Work: w,
		Outputs: NewOutputs(w, engine.Knowledge{}, 0), KVTokens: 100000, Gauges: make([]Gauge, replicas), Events: new(Index)}
	v.Events.Reset(&w.Forest, replicas, 1)
	return v
}

// routerOf builds a policy with its defaults but for what change does.
func routerOf(t testing.TB, v *View, name string, change func(Params)) Router {
	t.Helper()
	p, ok := Find(name)
	if !ok {
		t.Fatalf("no policy %s", name)
	}
	params := p.New()
	param.Defaults(params)
	if change != nil {
		change(params)
	}
	return params.Build(Env{Replicas: v.Replicas, Random: rng.New(1, 1, name), Work: v.Work, Step: slope{}, KVTokens: v.KVTokens, Routers: 1})
}

// slope is a step model of 1 us a prompt token.
type slope struct{}

func (slope) StepNs(b engine.Batch) int64 { return 1000 * b.Prefill }

func seg(id int64, tokens int32) workload.Segment { return workload.Segment{ID: id, Tokens: tokens} }

// text is the first n tokens of a prompt, spelt out; "" where they reach into
// its private rest.
func text(p prompt, n int32) string {
	var s string
	for _, x := range p.path {
		for i := range x.Tokens {
			if n == 0 {
				return s
			}
			s += fmt.Sprintf("%d.%d ", x.ID, i)
			n--
		}
	}
	if n > 0 && p.rest > 0 {
		return ""
	}
	return s
}

// Two requests have the same key exactly when the first tokens of their texts
// are the same.
func TestPrefixKeys(t *testing.T) {
	s := rng.New(5, 1, "keys")
	for range 40 {
		var prompts []prompt
		for range 60 {
			p := prompt{session: workload.None, rest: int32(s.IntN(2) * s.IntN(9))}
			for range s.IntN(4) {
				id := int64(s.IntN(3))
				p.path = append(p.path, seg(id, int32(2+3*id)))
			}
			if len(p.path) == 0 {
				p.rest = 3
			}
			prompts = append(prompts, p)
		}
		v := newPrompts(t, 2, prompts)
		n := int32(1 + s.IntN(14))
		keys := newPrefixKeys(v.Work, n)
		for i, p := range prompts {
			for j, q := range prompts {
				same := i == j || text(p, n) != "" && text(p, n) == text(q, n)
				if got := keys.of(int32(i)) == keys.of(int32(j)); got != same {
					t.Fatalf("first %d tokens of %v and %v: same key is %v", n, p, q, got)
				}
			}
		}
	}
}

// clockwise returns the acceptable replica with the nearest point, looking at
// every point of every replica.
func clockwise(replicas, vnodes int, key uint64, ok func(r int) bool) int {
	best, least := -1, uint64(math.MaxUint64)
	for r := range replicas {
		for n := range vnodes {
			if way := rng.Mix(uint64(r)<<32|uint64(n)) - key; ok(r) && way < least {
				best, least = r, way
			}
		}
	}
	return best
}

// Rings, with and without bounded loads, choose what a look at all points
// chooses, whatever loads and whoever is down.
func TestRingsAgainstAllPoints(t *testing.T) {
	s := rng.New(6, 1, "rings")
	prompts := make([]prompt, 300)
	for i := range prompts {
		prompts[i] = prompt{[]workload.Segment{seg(int64(s.IntN(40)), 300)}, 5, int64(s.IntN(50)) - 1}
	}
	for trial := range 60 {
		v := newPrompts(t, 1+s.IntN(9), prompts)
		vnodes := 1 + s.IntN(30)
		v.Up = slices.DeleteFunc(v.Up, func(int32) bool { return s.IntN(4) == 0 })
		if len(v.Up) == 0 {
			v.Up = []int32{0}
		}
		for i := range v.Requests {
			v.Requests[i] = int32(s.IntN(1 + trial/4))
		}
		kube := routerOf(t, v, "kubeai-prefix-hash", func(p Params) { p.(*KubeAIPrefixHash).VNodes = vnodes })
		sgl := routerOf(t, v, "bounded-hash", func(p Params) {
			b := p.(*BoundedHash)
			b.Key, b.VNodes, b.LoadFactor, b.CountNew = "session", vnodes, 1.5, false
		})
		session := routerOf(t, v, "session-affinity", func(p Params) { p.(*SessionAffinity).VNodes = vnodes })
		smg := routerOf(t, v, "smg-prefix-hash", func(p Params) { p.(*SMGPrefixHash).VNodes = vnodes })
		total, least := 0, v.Up[0]
		for _, i := range v.Up {
			total += int(v.Requests[i])
			if v.Requests[i] < v.Requests[least] {
				least = i
			}
		}
		below := func(bound float64) func(int) bool {
			return func(r int) bool { return v.IsUp(r) && float64(v.Requests[r]) <= bound }
		}
		n := float64(len(v.Up))
		for id := range int32(len(prompts)) {
			first25, first256 := newPrefixKeys(v.Work, 25), newPrefixKeys(v.Work, 256)
			sessionOf := sessionKey(id, v.Work)
			owner := clockwise(v.Replicas, vnodes, first256.of(id), v.IsUp)
			if !below(1.25 * float64(total+1) / n)(owner) {
				owner = int(least)
			}
			for _, c := range []struct {
				name string
				got  int
				want int
			}{
				{"kubeai-prefix-hash", kube.Route(id, v), clockwise(v.Replicas, vnodes, first25.of(id), below(1.25*float64(total+1)/n))},
				{"bounded-hash", sgl.Route(id, v), clockwise(v.Replicas, vnodes, sessionOf, below(1.5*float64(total)/n))},
				{"session-affinity", session.Route(id, v), clockwise(v.Replicas, vnodes, sessionOf, v.IsUp)},
				{"smg-prefix-hash", smg.Route(id, v), owner},
			} {
				if c.got != c.want {
					t.Fatalf("trial %d: %s sends request %d to %d, all points say %d; loads %v, up %v", trial, c.name, id, c.got, c.want, v.Requests, v.Up)
				}
			}
		}
	}
}

// The bound from both sides, on four replicas: 1.25 * (total + 1) / 4.
func TestBoundOfKubeAI(t *testing.T) {
	v := newPrompts(t, 4, []prompt{{[]workload.Segment{seg(1, 400)}, 5, workload.None}})
	for _, name := range []string{"kubeai-prefix-hash", "smg-prefix-hash", "bounded-hash"} {
		r := routerOf(t, v, name, nil)
		clear(v.Requests)
		owner := r.Route(0, v) // no load at all: the owner
		for _, c := range []struct {
			own, other int32 // of the owner, and of each of the three others
			stays      bool
		}{
			{5, 4, true},    // total 17: 1.25*18/4 = 5.625
			{6, 4, false},   // total 18: 1.25*19/4 = 5.9375
			{6, 5, true},    // total 21: 6.875
			{1, 0, false},   // total 1: 0.625
			{0, 0, true},    // total 0
			{25, 18, true},  // total 79: 1.25*80/4 = 25, not above
			{26, 18, false}, // total 80: 25.3125
		} {
			for i := range v.Requests {
				v.Requests[i] = c.other
			}
			v.Requests[owner] = c.own
			if got := r.Route(0, v); (got == owner) != c.stays {
				t.Errorf("%s with %d on the owner and %d elsewhere goes to %d, owner %d", name, c.own, c.other, got, owner)
			}
		}
	}
}

// SMG spills to the least loaded, first index on ties; KubeAI to the next point.
func TestSpill(t *testing.T) {
	v := newPrompts(t, 5, []prompt{{[]workload.Segment{seg(1, 400)}, 5, workload.None}})
	smg, kube := routerOf(t, v, "smg-prefix-hash", nil), routerOf(t, v, "kubeai-prefix-hash", nil)
	owner := smg.Route(0, v)
	v.Requests = []int32{3, 3, 3, 3, 3}
	v.Requests[owner] = 40
	low := (owner + 1) % 5
	high := (owner + 3) % 5
	v.Requests[low], v.Requests[high] = 1, 1
	v.Decision = new(Decision)
	if got := smg.Route(0, v); got != min(low, high) || v.Decision.Rule != "spill" {
		t.Errorf("the least loaded are %d and %d, chosen %d by %s", low, high, got, v.Decision.Rule)
	}
	next := kube.Route(0, v)
	v.Requests[next] = 40 // 40, 40, 1, 1, 3: bound 1.25*86/5 = 21.5
	if third := kube.Route(0, v); third == next || third == owner && v.Requests[owner] == 40 && next != owner {
		t.Errorf("with %d and %d above the bound the choice is %d", owner, next, third)
	}
}

// With one key for all requests (a shared first block, as Mooncake's
// conversations have) a plain ring uses one replica; the bounded one fills
// replicas in ring order as far as 1.25 times the mean.
func TestOneKey(t *testing.T) {
	prompts := make([]prompt, 400)
	for i := range prompts {
		prompts[i] = prompt{[]workload.Segment{seg(0, 512), seg(int64(1+i), 300)}, 5, workload.None}
	}
	v := newPrompts(t, 8, prompts)
	for name, want := range map[string]int32{"bounded-hash": 63, "kubeai-prefix-hash": 63, "smg-prefix-hash": 63} {
		clear(v.Requests)
		r := routerOf(t, v, name, func(p Params) {
			if b, ok := p.(*BoundedHash); ok {
				b.Key, b.Tokens = "tokens", 256
			}
		})
		for id := range int32(400) {
			v.Requests[r.Route(id, v)]++
		}
		// The owner takes its last one while 1.25*(total+1)/8 is at most 62.5.
		if got := slices.Max(v.Requests); got != want {
			t.Errorf("%s: the most loaded of 8 has %d of 400 requests %v, want %d", name, got, v.Requests, want)
		}
	}
	r := routerOf(t, v, "rendezvous-hash", func(p Params) { p.(*RendezvousHash).Key = "tokens" })
	one := r.Route(0, v)
	for id := range int32(400) {
		if got := r.Route(id, v); got != one {
			t.Fatalf("one key goes to %d and to %d", one, got)
		}
	}
}

// Twenty points a replica, KubeAI's old number, leave shares far apart; 256 do not.
func TestSkewOfFewPoints(t *testing.T) {
	spread := func(vnodes int) float64 {
		count := make([]float64, 8)
		g := newRing(0, 8, vnodes)
		v := &View{Replicas: 8, Up: all(8)}
		for k := range uint64(20000) {
			count[g.owner(rng.Mix(^k), v)]++
		}
		return slices.Max(count) / slices.Min(count)
	}
	if few, many := spread(20), spread(256); few < 1.5 || many > 1.4 || few < many {
		t.Errorf("largest over smallest share: %.2f with 20 points, %.2f with 256", few, many)
	}
}

// A session stays; requests without one spread; a rendezvous hash moves only
// the keys of a replica that goes, a ring too, and vLLM's router sends those to
// the first replica up.
func TestSessionsAndDowntime(t *testing.T) {
	var prompts []prompt
	for i := range 600 {
		session := int64(i % 200)
		if i >= 400 {
			session = workload.None
		}
		prompts = append(prompts, prompt{[]workload.Segment{seg(0, 100)}, 5, session})
	}
	v := newPrompts(t, 6, prompts)
	for _, name := range []string{"session-affinity", "vllm-router-consistent-hash", "rendezvous-hash"} {
		v.Up = all(6)
		r := routerOf(t, v, name, func(p Params) {
			if h, ok := p.(*RendezvousHash); ok {
				h.Key = "session"
			}
		})
		before := make([]int, len(prompts))
		count := make([]int, 6)
		for i := range prompts {
			before[i] = r.Route(int32(i), v)
			if i >= 200 && i < 400 && before[i] != before[i-200] {
				t.Fatalf("%s: a session goes to %d and to %d", name, before[i-200], before[i])
			}
			if i >= 400 {
				count[before[i]]++
			}
		}
		if slices.Min(count) < 10 {
			t.Errorf("%s: requests without a session go to %v", name, count)
		}
		v.Up = []int32{1, 2, 4, 5}
		for i := range prompts {
			got := r.Route(int32(i), v)
			gone := before[i] == 0 || before[i] == 3
			switch {
			case !gone && got != before[i]:
				t.Fatalf("%s: request %d moves from %d to %d although that is up", name, i, before[i], got)
			case gone && !v.IsUp(got):
				t.Fatalf("%s: request %d goes to %d, which is down", name, i, got)
			case gone && name == "vllm-router-consistent-hash" && got != 1:
				t.Fatalf("request %d goes to %d, want the first that is up", i, got)
			}
		}
	}
}

// A factor of Dynamo's plugin: the highest hash among those within the bound.
func TestBoundedRendezvous(t *testing.T) {
	prompts := make([]prompt, 50)
	for i := range prompts {
		prompts[i] = prompt{[]workload.Segment{seg(int64(i), 300)}, 5, workload.None}
	}
	v := newPrompts(t, 6, prompts)
	s := rng.New(8, 1, "loads")
	r := routerOf(t, v, "bounded-hash", func(p Params) { p.(*BoundedHash).Order = "rendezvous" })
	for id := range int32(50) {
		total := 1.0
		for i := range v.Requests {
			v.Requests[i] = int32(s.IntN(5))
			total += float64(v.Requests[i])
		}
		want, most := -1, uint64(0)
		for i := range 6 {
			w := rng.Mix(rng.Mix(v.Work.Forest.Hash[v.Work.Key[id]]) ^ rng.Mix(uint64(i)))
			if float64(v.Requests[i]) <= 1.25*total/6 && w > most {
				want, most = i, w
			}
		}
		if got := r.Route(id, v); got != want {
			t.Fatalf("request %d goes to %d, want %d", id, got, want)
		}
	}
}
