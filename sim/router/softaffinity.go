package router

import "switchyard/sim/workload"

var softAffinityPolicy = Policy{
	Name:      "dynamo-soft-affinity",
	Summary:   "Dynamo's plugin soft_affinity_load_guard: a session stays until its replica is loaded and another is clearly less so",
	Formula:   "bound replica while l <= 32 or no other has l at least 2 lower; else argmin l of the others",
	Needs:     "the session of a request, and its own dispatches in flight",
	Belief:    "none; a session meets its own cache",
	Staleness: "none; several routers count apart",
	TieBreak:  "first index",
	Source:    "Dynamo, lib/router-plugins/builtin/src/soft_affinity_load_guard.rs at 1aa6b646; bindings never expire here",
	New:       func() Params { return new(SoftAffinity) },
}

// SoftAffinity are the parameters of Dynamo's plugin soft_affinity_load_guard.
type SoftAffinity struct {
	MaxActive  int32 `yaml:"max_active" default:"32" min:"0" unit:"requests" doc:"requests in flight up to which a session stays on its replica"`
	MoveMargin int32 `yaml:"move_margin" default:"2" min:"1" unit:"requests" doc:"how many fewer requests another replica must have for the session to move"`
}

// Build implements Params.
func (p *SoftAffinity) Build(e Env) Router {
	r := &softAffinity{p: *p}
	r.of, r.bound = sessions(e.Work)
	return r
}

// sessions numbers the sessions of a workload from 0 in order of their first
// request, None for a request without one, and makes room for what each is
// bound to, None at first.
func sessions(w *workload.Workload) (of, bound []int32) {
	of = make([]int32, w.Len())
	numbers := map[int64]int32{}
	for id := range of {
		of[id] = workload.None
		if w.Session == nil || w.Session[id] == workload.None {
			continue
		}
		n, known := numbers[w.Session[id]]
		if !known {
			n = int32(len(bound))
			numbers[w.Session[id]] = n
			bound = append(bound, workload.None)
		}
		of[id] = n
	}
	return of, bound
}

type softAffinity struct {
	p     SoftAffinity
	of    []int32 // by request: its session
	bound []int32 // by session: its replica
}

func (r *softAffinity) Route(id int32, v *View) int {
	v.Believed = -1
	session := r.of[id]
	if session == workload.None {
		explainLoads(v, "no-session", v.Up)
		return int(r.least(v, workload.None))
	}
	chosen, rule := r.choose(r.bound[session], v)
	explainLoads(v, rule, v.Up)
	r.bound[session] = chosen
	return int(chosen)
}

// choose returns where a session that is bound to a replica goes.
func (r *softAffinity) choose(bound int32, v *View) (int32, string) {
	if bound == workload.None || !v.IsUp(int(bound)) {
		return r.least(v, workload.None), "unbound"
	}
	load := v.Requests[bound]
	if load <= r.p.MaxActive {
		return bound, "bound"
	}
	if other := r.least(v, bound); other != workload.None && load-v.Requests[other] >= r.p.MoveMargin {
		return other, "moved"
	}
	return bound, "bound"
}

// least returns the replica with the fewest requests but for one.
func (r *softAffinity) least(v *View, but int32) int32 {
	best := int32(workload.None)
	for _, i := range v.Up {
		if i != but && (best == workload.None || v.Requests[i] < v.Requests[best]) {
			best = i
		}
	}
	return best
}
