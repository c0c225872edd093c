package router

import (
	"math/bits"
	"slices"

	"switchyard/sim/rng"
)

// ring is a hash ring: each replica owns the arcs that end at its points.
//
// A table over the leading bits of hashes says where to begin a search, with
// about one point an entry, so that a look-up costs the same on 2,000 points
// as on 200,000.
type ring struct {
	points []point
	first  []int32 // by leading bits: the first point that is not before them
	shift  int
}

type point struct {
	hash    uint64
	replica int32
}

// newRing returns the ring of the replicas from one to before another.
func newRing(from, to, vnodes int) ring {
	var g ring
	for r := from; r < to; r++ {
		for v := range vnodes {
			g.points = append(g.points, point{rng.Mix(uint64(r)<<32 | uint64(v)), int32(r)})
		}
	}
	slices.SortFunc(g.points, func(a, b point) int {
		if a.hash != b.hash {
			if a.hash < b.hash {
				return -1
			}
			return 1
		}
		return int(a.replica - b.replica)
	})
	size := bits.Len(uint(len(g.points))) // of the table, in bits
	g.shift = 64 - size
	at := int32(0)
	for b := range uint64(1) << size {
		for int(at) < len(g.points) && g.points[at].hash < b<<g.shift {
			at++
		}
		g.first = append(g.first, at)
	}
	return g
}

// ringOf returns the ring of a router's pool.
func ringOf(e *Env, vnodes int) ring {
	from, to := e.span()
	return newRing(from, to, vnodes)
}

// seek returns the first point at or after a key, clockwise.
func (g *ring) seek(key uint64) int {
	at := int(g.first[key>>g.shift])
	for at < len(g.points) && g.points[at].hash < key {
		at++
	}
	if at == len(g.points) {
		return 0
	}
	return at
}

// owner returns the first replica that takes requests from a key on.
func (g *ring) owner(key uint64, v *View) int {
	for at := g.seek(key); ; at++ {
		if at == len(g.points) {
			at = 0
		}
		if r := int(g.points[at].replica); v.IsUp(r) {
			return r
		}
	}
}

// within returns the first replica from a key on that takes requests and has at
// most so many; -1 where none has.
func (g *ring) within(key uint64, v *View, bound float64) int {
	at := g.seek(key)
	for range g.points {
		if r := int(g.points[at].replica); float64(v.Requests[r]) <= bound && v.IsUp(r) {
			return r
		}
		if at++; at == len(g.points) {
			at = 0
		}
	}
	return -1
}

// rendezvous is the weight of a replica for a key; the highest wins (Thaler and
// Ravishankar, 1998, Using Name-Based Mappings to Increase Hit Rates).
func rendezvous(key uint64, replica int32, seed uint64) uint64 {
	return rng.Mix(key ^ rng.Mix(seed<<32|uint64(replica)))
}

// boundOf returns the most requests that a replica may have to get another:
// factor times the mean over the replicas that take requests, the new request
// counted in where extra is 1.
func boundOf(v *View, factor float64, extra int64) float64 {
	total := extra
	for _, i := range v.Up {
		total += int64(v.Requests[i])
	}
	return factor * float64(total) / float64(len(v.Up))
}
