package router

var consistentHashPolicy = Policy{
	Name:      "consistent-hash",
	Summary:   "the replica that owns the hash of the prompt's prefix on a ring",
	Formula:   "first point clockwise from hash(key); with assign: in-turn the replica that the key was dealt, one to each replica in turn; with assign: modulo hash(key) mod replicas",
	Needs:     "the prompt alone; with assign: in-turn every key that it has seen",
	Belief:    "none; equal keys meet equal caches",
	Staleness: "none",
	TieBreak:  "ring order",
	Source:    "Karger et al., 1997, Consistent Hashing and Random Trees; the key as a user of Preble's baseline would choose it; in-turn and modulo as WukLab/preble, multi_node/benchmarks/benchmark_workload_gen.py, has that baseline for documents, tools and programs (LoogleOracle, TBOracleB, ProgrammingOracle) and for videos (VideoOracle)",
	New:       func() Params { return new(ConsistentHash) },
}

var sessionAffinityPolicy = Policy{
	Name:      "session-affinity",
	Summary:   "the replica that owns the request's session on a ring; requests without a session are spread by their own hash",
	Formula:   "first point clockwise from hash(session)",
	Needs:     "the session of a request",
	Belief:    "none; a session meets its own cache",
	Staleness: "none",
	TieBreak:  "ring order",
	Source:    "textbook; SGLang's manual and Dynamo's session affinity without their tables of sticky keys",
	New:       func() Params { return new(SessionAffinity) },
}

var vllmRouterHashPolicy = Policy{
	Name:      "vllm-router-consistent-hash",
	Summary:   "the replica that owns the request's session on a ring; the first healthy one while that is down",
	Formula:   "first point clockwise from hash(session)",
	Needs:     "the session of a request",
	Belief:    "none; a session meets its own cache",
	Staleness: "none",
	TieBreak:  "ring order; first index where the owner is down",
	Source:    "vllm-project/router, src/policies/consistent_hash.rs at 1aa35009",
	New:       func() Params { return new(VLLMRouterHash) },
}

// ConsistentHash sends equal prefixes to equal replicas. Which replica a key has
// decides how even the load is when keys are few: dealt in turn, 24 documents
// are 12 and 12 on two replicas; by a hash, on a ring or not, they are that only
// on average.
type ConsistentHash struct {
	Keyed
	Assign string `yaml:"assign" default:"ring" enum:"ring|in-turn|modulo" doc:"which replica a key has: the owner on the ring; the next one in turn when the key is first seen, and again when that is down; or its hash modulo the number of replicas that take requests"`
	VNodes int    `yaml:"vnodes" default:"256" min:"1" max:"65536" unit:"points" doc:"with assign: ring, points of each replica"`
}

// SessionAffinity sends equal sessions to equal replicas.
type SessionAffinity struct {
	VNodes int `yaml:"vnodes" default:"256" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring"`
}

// VLLMRouterHash is the consistent hashing of vLLM's router: an owner that is
// down is not replaced by the next on the ring.
type VLLMRouterHash struct {
	VNodes int `yaml:"vnodes" default:"160" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring"`
}

// Build implements Params.
func (p *ConsistentHash) Build(e Env) Router {
	switch p.Assign {
	case "in-turn":
		return &dealtKeys{keys: p.keys(e.Work), owner: map[uint64]int32{}}
	case "modulo":
		return &moduloHash{p.keys(e.Work)}
	}
	return &consistentHash{ring: ringOf(&e, p.VNodes), keys: p.keys(e.Work)}
}

// Build implements Params.
func (p *SessionAffinity) Build(e Env) Router {
	return &consistentHash{ring: ringOf(&e, p.VNodes), keys: keys{kind: "session"}}
}

// Build implements Params.
func (p *VLLMRouterHash) Build(e Env) Router {
	return &vllmRouterHash{ringOf(&e, p.VNodes)}
}

type consistentHash struct {
	ring ring
	keys keys
}

func (h *consistentHash) Route(id int32, v *View) int {
	v.Believed = -1
	owner := h.ring.owner(h.keys.of(id, v.Work), v)
	v.candidates("owner", int32(owner))
	return owner
}

// dealtKeys deals the keys that it has not seen to replicas in turn.
type dealtKeys struct {
	keys  keys
	owner map[uint64]int32 // by key
	turn  int
}

func (h *dealtKeys) Route(id int32, v *View) int {
	v.Believed = -1
	key := h.keys.of(id, v.Work)
	owner, seen := h.owner[key]
	rule := "owner"
	if !seen || !v.IsUp(int(owner)) {
		owner, rule = v.Up[h.turn%len(v.Up)], "dealt"
		h.turn++
		h.owner[key] = owner
	}
	v.candidates(rule, owner)
	return int(owner)
}

// moduloHash takes the remainder of the key, with replicas that are down left
// out.
type moduloHash struct{ keys keys }

func (h *moduloHash) Route(id int32, v *View) int {
	v.Believed = -1
	owner := v.Up[h.keys.of(id, v.Work)%uint64(len(v.Up))]
	v.candidates("owner", owner)
	return int(owner)
}

type vllmRouterHash struct{ ring ring }

func (h *vllmRouterHash) Route(id int32, v *View) int {
	v.Believed = -1
	owner := int(h.ring.points[h.ring.seek(sessionKey(id, v.Work))].replica)
	if v.IsUp(owner) {
		v.candidates("owner", int32(owner))
		return owner
	}
	v.candidates("owner-down", v.Up[0])
	return int(v.Up[0])
}
