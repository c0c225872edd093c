package router

var boundedHashPolicy = Policy{
	Name:      "bounded-hash",
	Summary:   "the first replica from the key's place on whose load stays within a factor of the mean",
	Formula:   "first from hash(key) on with l <= factor*(total+1)/n",
	Needs:     "its own dispatches in flight",
	Belief:    "none; equal keys meet equal caches while load allows",
	Staleness: "none; several routers count apart",
	TieBreak:  "ring order, or the highest hash; where no load is within the bound, the owner",
	Source:    "Mirrokni, Thorup and Zadimoghaddam, 2018, Consistent Hashing with Bounded Loads. key: session, load_factor: 1.5, count_new: false is bounded_consistent_hashing of an SGLang pull request (1cfac30c, not verified against code); key: tokens, order: rendezvous is Dynamo's plugin chwbl (67803200)",
	New:       func() Params { return new(BoundedHash) },
}

var kubeAIPrefixHashPolicy = Policy{
	Name:      "kubeai-prefix-hash",
	Summary:   "consistent hashing with bounded loads of a prompt's first 100 characters",
	Formula:   "first point clockwise from hash(first 100 characters) with l <= 1.25*(total+1)/n",
	Needs:     "its own dispatches in flight",
	Belief:    "none; equal beginnings meet equal caches while load allows",
	Staleness: "none; several routers count apart",
	TieBreak:  "ring order; where no load is within the bound, the owner",
	Source:    "KubeAI, internal/loadbalancer/balance_chwbl.go at f442a2cd; 20 points a replica before its version 0.16",
	New:       func() Params { return new(KubeAIPrefixHash) },
}

var smgPrefixHashPolicy = Policy{
	Name:      "smg-prefix-hash",
	Summary:   "the owner of a prompt's first 256 tokens on a ring, or the least loaded replica while that is above the bound",
	Formula:   "owner of hash(first 256 tokens) if l <= 1.25*(total+1)/n, else argmin l",
	Needs:     "its own dispatches in flight",
	Belief:    "none; equal beginnings meet equal caches while load allows",
	Staleness: "none; several routers count apart",
	TieBreak:  "first index among the least loaded; where no load is within the bound, the owner",
	Source:    "SMG, model_gateway/src/policies/prefix_hash.rs at 73da68ca",
	New:       func() Params { return new(SMGPrefixHash) },
}

// BoundedHash is consistent or rendezvous hashing with bounded loads.
type BoundedHash struct {
	Keyed
	VNodes     int     `yaml:"vnodes" default:"256" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring"`
	LoadFactor float64 `yaml:"load_factor" default:"1.25" min:"1" max:"1000" unit:"ratio" doc:"a replica with more than this many times the mean number of outstanding requests is passed over"`
	CountNew   bool    `yaml:"count_new" default:"true" doc:"whether the mean counts the request that is to be sent"`
	Order      string  `yaml:"order" default:"ring" enum:"ring|rendezvous" doc:"in which order replicas are asked: clockwise from the key, or from the highest hash of key and replica down"`
}

// KubeAIPrefixHash is KubeAI's strategy PrefixHash.
type KubeAIPrefixHash struct {
	PrefixTokens int32   `yaml:"prefix_tokens" default:"25" min:"1" unit:"tokens" doc:"leading tokens that are hashed; 25 stand for KubeAI's 100 characters, at 4 characters a token"`
	VNodes       int     `yaml:"vnodes" default:"256" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring; 20 before KubeAI 0.16, which put most keys on few replicas"`
	LoadFactor   float64 `yaml:"load_factor" default:"1.25" min:"1" max:"1000" unit:"ratio" doc:"a replica with more than this many times the mean number of outstanding requests is passed over"`
}

// SMGPrefixHash is SMG's policy prefix_hash.
type SMGPrefixHash struct {
	PrefixTokens int32   `yaml:"prefix_tokens" default:"256" min:"1" unit:"tokens" doc:"leading tokens that are hashed"`
	VNodes       int     `yaml:"vnodes" default:"150" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring"`
	LoadFactor   float64 `yaml:"load_factor" default:"1.25" min:"1" max:"1000" unit:"ratio" doc:"an owner with more than this many times the mean number of outstanding requests is left for the least loaded replica"`
}

// Build implements Params.
func (p *BoundedHash) Build(e Env) Router {
	b := bounded{keys: p.keys(e.Work), factor: p.LoadFactor}
	if p.CountNew {
		b.extra = 1
	}
	if p.Order == "rendezvous" {
		return &boundedRendezvous{b}
	}
	b.ring = ringOf(&e, p.VNodes)
	return &b
}

// Build implements Params.
func (p *KubeAIPrefixHash) Build(e Env) Router {
	first := Keyed{Key: "tokens", Tokens: p.PrefixTokens}
	return &bounded{ringOf(&e, p.VNodes), first.keys(e.Work), p.LoadFactor, 1}
}

// Build implements Params.
func (p *SMGPrefixHash) Build(e Env) Router {
	return &smgPrefixHash{ringOf(&e, p.VNodes), newPrefixKeys(e.Work, p.PrefixTokens), p.LoadFactor}
}

type bounded struct {
	ring   ring
	keys   keys
	factor float64
	extra  int64
}

func (b *bounded) Route(id int32, v *View) int {
	v.Believed = -1
	bound := boundOf(v, b.factor, b.extra)
	d := explainBound(v, bound)
	key := b.keys.of(id, v.Work)
	r := b.ring.within(key, v, bound)
	if r < 0 { // loads that are no counts of ours may all lie above their bound
		r = b.ring.owner(key, v)
	}
	if d != nil && r != b.ring.owner(key, v) {
		d.Rule = "spill"
	}
	return r
}

// boundedRendezvous asks replicas from the highest hash down.
type boundedRendezvous struct{ bounded }

func (b *boundedRendezvous) Route(id int32, v *View) int {
	v.Believed = -1
	bound := boundOf(v, b.factor, b.extra)
	d := explainBound(v, bound)
	key := b.keys.of(id, v.Work)
	best, weight := -1, uint64(0)
	for _, i := range v.Up {
		if float64(v.Requests[i]) > bound {
			continue
		}
		if w := rendezvous(key, i, 0); best < 0 || w > weight {
			best, weight = int(i), w
		}
	}
	if best < 0 {
		best = highest(key, v.Up, 0, -1)
	}
	if d != nil && best != highest(key, v.Up, 0, -1) {
		d.Rule = "spill"
	}
	return best
}

type smgPrefixHash struct {
	ring   ring
	keys   prefixKeys
	factor float64
}

func (h *smgPrefixHash) Route(id int32, v *View) int {
	v.Believed = -1
	bound := boundOf(v, h.factor, 1)
	d := explainBound(v, bound)
	owner := h.ring.owner(h.keys.of(id), v)
	if float64(v.Requests[owner]) <= bound {
		return owner
	}
	least := v.Up[0]
	for _, i := range v.Up[1:] {
		if v.Requests[i] < v.Requests[least] {
			least = i
		}
	}
	if float64(v.Requests[least]) > bound {
		return owner
	}
	if d != nil {
		d.Rule = "spill"
	}
	return int(least)
}

// explainBound fills the decision with the loads of replicas within the bound.
func explainBound(v *View, bound float64) *Decision {
	d := v.Decide("owner")
	if d == nil {
		return nil
	}
	for _, i := range v.Up {
		if l := float64(v.Requests[i]); l <= bound {
			d.Score[i] = l
		}
	}
	return d
}
