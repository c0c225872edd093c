package router

var vllmRouterCacheAwarePolicy = Policy{
	Name:      "vllm-router-cache-aware",
	Summary:   "vLLM's router: SGLang's rule with smaller thresholds and a small tree, behind an exact map of sessions",
	Formula:   "if max l - min l > 32 and max l > 1.1 min l: argmin l; else the session's replica; else if match / prompt > 0.5: the named tenant; else argmin l",
	Needs:     "its own dispatches in flight, the prompt's text, the session",
	Belief:    "approximate tree as sglang-cache-aware's, 10,000 characters a replica, cut every 30 s; sessions for an hour; both forget a replica that is removed",
	Staleness: "loads are exact, of this router alone",
	Terms:     treeTerms,
	TieBreak:  "the first index; among the owners of a prefix the one that the tree's node was made for, whatever its load",
	Source:    "vllm-project/router src/policies/cache_aware.rs at 1aa35009 and 16917f49, the defaults of its struct",
	New:       func() Params { return new(VLLMRouterCacheAware) },
}

// VLLMRouterCacheAware is treeAffinity as vllm-project/router has it.
type VLLMRouterCacheAware struct {
	Threshold    float64 `yaml:"threshold" default:"0.5" min:"0" max:"1" unit:"share" doc:"a known prefix counts when it is more than this share of the prompt"`
	BalanceAbs   int32   `yaml:"balance_abs" default:"32" min:"0" unit:"requests" doc:"loads are far apart when the greatest is more than this many requests above the least ..."`
	BalanceRatio float64 `yaml:"balance_ratio" default:"1.1" min:"0" unit:"ratio" doc:"... and more than this many times as great"`
	MaxTreeChars int64   `yaml:"max_tree_size" default:"10000" min:"0" unit:"chars" doc:"what eviction leaves of each replica's text in the tree, at 4 characters a token, and of sessions"`
	EvictionS    float64 `yaml:"eviction_s" default:"30" min:"0" max:"1000000" unit:"s" doc:"time between evictions; 0 = never"`
	SessionTTLS  float64 `yaml:"session_ttl_s" default:"3600" min:"0" max:"1000000" unit:"s" doc:"a session that has not been seen for longer is forgotten at an eviction"`
	Sessions     bool    `yaml:"sessions" default:"true" doc:"whether requests name their session"`
	Down         string  `yaml:"down" default:"drop" enum:"keep|drop" doc:"whether tree and sessions keep a replica that takes no more requests, as when its health check fails, or forget it, as when it is removed"`
}

// Build implements Params.
func (p *VLLMRouterCacheAware) Build(e Env) Router {
	a := newTreeAffinity(e, &TreeGuard{p.Threshold, p.BalanceAbs, p.BalanceRatio},
		&TreeStore{Unit: "chars", MaxTreeChars: p.MaxTreeChars, EvictionS: p.EvictionS, Down: p.Down})
	a.all = e.pool()
	r := &vllmRouterCacheAware{treeAffinity: a}
	if p.Sessions {
		r.sessions = newStickySessions(e.Work, p.SessionTTLS, p.EvictionS, int(p.MaxTreeChars))
		r.replica = make([]int32, len(r.sessions.seenNs))
	}
	return r
}

type vllmRouterCacheAware struct {
	treeAffinity
	sessions stickySessions
	replica  []int32 // by session
}

func (r *vllmRouterCacheAware) Route(id int32, v *View) int {
	r.limits.apply(r.tree, v.NowNs)
	for r.sessions.expired(v.NowNs) != none {
	}
	session, pinned := int32(none), none
	if r.replica != nil {
		session = r.sessions.of[id]
	}
	if session != none && r.sessions.knows(session) {
		if pinned = int(r.replica[session]); !v.IsUp(pinned) {
			pinned = none
		}
	}
	chosen := r.choose(id, v, pinned)
	if session != none {
		r.sessions.see(session, v.NowNs)
		r.replica[session] = int32(chosen)
	}
	return chosen
}

// Down implements Follower.
func (r *vllmRouterCacheAware) Down(replica int, v *View) {
	r.treeAffinity.Down(replica, v)
	if !r.drop {
		return
	}
	for s, to := range r.replica {
		if int(to) == replica && r.sessions.knows(int32(s)) {
			r.sessions.forget(int32(s))
		}
	}
}
