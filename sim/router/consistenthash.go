package router

import (
	"slices"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

var consistentHashPolicy = Policy{
	Name:     "consistent-hash",
	Summary:  "the replica that owns the hash of the prompt's prefix on a ring",
	Needs:    "the prompt alone",
	TieBreak: "ring order",
	Source:   "Karger et al., 1997, Consistent Hashing and Random Trees; the key as a user of Preble's baseline would choose it",
	New:      func() Params { return new(ConsistentHash) },
}

// ConsistentHash sends equal prefixes to equal replicas.
type ConsistentHash struct {
	Key      string `yaml:"key" default:"key-portion" enum:"key-portion|segments" doc:"what is hashed: the prompt up to the end of its key portion (the deepest segment longer than all before it together), or its first segments"`
	Segments int32  `yaml:"segments" default:"1" min:"1" unit:"segments" doc:"with key: segments, how many; chains that never branch count as one"`
	VNodes   int    `yaml:"vnodes" default:"256" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring"`
}

// Build implements Params.
func (p *ConsistentHash) Build(e Env) Router {
	h := &consistentHash{segments: p.Segments}
	if p.Key == "key-portion" {
		h.segments = 0
	}
	for r := range e.Replicas {
		for v := range p.VNodes {
			h.ring = append(h.ring, point{rng.Mix(uint64(r)<<32 | uint64(v)), int32(r)})
		}
	}
	slices.SortFunc(h.ring, func(a, b point) int {
		if a.hash != b.hash {
			if a.hash < b.hash {
				return -1
			}
			return 1
		}
		return int(a.replica - b.replica)
	})
	return h
}

type point struct {
	hash    uint64
	replica int32
}

type consistentHash struct {
	ring     []point
	segments int32 // 0: up to the end of the key portion
}

func (h *consistentHash) Route(id int32, v *View) int {
	key := h.key(id, v.Work)
	at, _ := slices.BinarySearchFunc(h.ring, key, func(p point, key uint64) int {
		if p.hash < key {
			return -1
		}
		if p.hash > key {
			return 1
		}
		return 0
	})
	for ; ; at++ {
		if at == len(h.ring) {
			at = 0
		}
		if r := int(h.ring[at].replica); v.IsUp(r) {
			return r
		}
	}
}

// key returns what is hashed; a prompt without shared segments is a key of its own.
func (h *consistentHash) key(id int32, w *workload.Workload) uint64 {
	n := w.Key[id]
	if h.segments > 0 {
		n = w.Leaf[id]
		for n != workload.None && w.Forest.Level[n] > h.segments {
			n = w.Forest.Parent[n]
		}
	}
	if n == workload.None {
		return rng.Mix(^uint64(id))
	}
	return rng.Mix(w.Forest.Hash[n])
}
