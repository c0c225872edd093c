package router

var rendezvousPolicy = Policy{
	Name:      "rendezvous-hash",
	Summary:   "the replica with the highest hash of the key and itself",
	Formula:   "argmax hash(key, replica)",
	Needs:     "the prompt alone",
	Belief:    "none; equal keys meet equal caches",
	Staleness: "none",
	TieBreak:  "first index",
	Source:    "Thaler and Ravishankar, 1998; vllm-project/router, src/policies/rendezvous_hash.rs at 1aa35009, and AIBrix's session-affinity at e3e10f9e hash the session so",
	New:       func() Params { return new(RendezvousHash) },
}

// RendezvousHash sends equal keys to equal replicas without a ring: a replica
// that goes spreads its keys evenly over the others.
type RendezvousHash struct{ Keyed }

// Build implements Params.
func (p *RendezvousHash) Build(e Env) Router { return &rendezvousHash{p.keys(e.Work)} }

type rendezvousHash struct{ keys keys }

func (h *rendezvousHash) Route(id int32, v *View) int {
	v.Believed = -1
	owner := highest(h.keys.of(id, v.Work), v.Up, 0, -1)
	v.candidates("owner", int32(owner))
	return owner
}

// highest returns the replica in up with the highest weight for a key, the one
// to skip left out; -1 where no other is left.
func highest(key uint64, up []int32, seed uint64, skip int) int {
	best, weight := -1, uint64(0)
	for _, i := range up {
		if int(i) == skip {
			continue
		}
		if w := rendezvous(key, i, seed); best < 0 || w > weight {
			best, weight = int(i), w
		}
	}
	return best
}
