// Package lru has the hit rate of a cache with least-recently-used eviction in
// theory, as an oracle for caches that are simulated.
//
// Requests ask for item k with probability p_k, independently of each other,
// and the cache holds c items of equal size. Che, Tung and Wang (2002): an item
// leaves the cache when it was not asked for during a time in which c other
// items were, and that time is nearly the same constant t for all. It solves
//
//	sum_k (1 - exp(-p_k t)) = c
//
// and an item is found with probability 1 - exp(-p_k t), so that
//
//	hit rate = sum_k p_k (1 - exp(-p_k t)).
//
// For items of different sizes that do not go with their popularity, c is the
// space over the mean size. What the approximation leaves out: that a run begins
// with an empty cache, that requests under way hold space of their own, and that
// neighbours in time are alike. For Zipf's law it is exact to three digits from
// some ten items on (Fricker, Robert and Roberts, 2012).
//
// A partition of the items over n caches that follows their popularity behaves
// like one cache of n c items; n caches that each see all items like one of c.
// Four replicas that hold 10 of 300 documents each, with Zipf exponent 1.1:
//
//	p := lru.Zipf(300, 1.1)
//	lru.HitRate(p, 10) // .372 of the requests, spread evenly
//	lru.HitRate(p, 40) // .638, each document in one place
//
// In an experiment's tables the same is che_hit_rate(p, c) with p =
// zipf_shares(n, a), functions of views.sql.
package lru

import "math"

// Zipf returns the shares of n items, p_k in proportion to k^-a.
func Zipf(n int, a float64) []float64 {
	p := make([]float64, n)
	total := 0.0
	for k := range p {
		p[k] = math.Pow(float64(k+1), -a)
		total += p[k]
	}
	for k := range p {
		p[k] /= total
	}
	return p
}

// CharacteristicTime returns t, in requests, for shares p that sum to 1 and a
// cache of c items: 0 for c of 0 or less, an infinity where all items fit.
func CharacteristicTime(p []float64, c float64) float64 {
	asked := 0
	for _, share := range p {
		if share > 0 {
			asked++
		}
	}
	switch {
	case !(c > 0):
		return 0
	case c >= float64(asked):
		return math.Inf(1)
	}
	// The left side is concave and grows: Newton's steps from 0 stay below the
	// solution and come nearer each time, by twice the digits in the end.
	t := 0.0
	for {
		held, slope := -c, 0.0
		for _, share := range p {
			left := math.Exp(-share * t)
			held += 1 - left
			slope += share * left
		}
		step := -held / slope
		if t += step; !(step > 1e-12*t) {
			return t
		}
	}
}

// HitRate returns the share of requests that find their item.
func HitRate(p []float64, c float64) float64 {
	t := CharacteristicTime(p, c)
	hits := 0.0
	for _, share := range p {
		if share > 0 {
			hits += share * -math.Expm1(-share*t)
		}
	}
	return hits
}
