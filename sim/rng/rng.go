// Package rng makes named streams of random numbers.
//
// A stream is a function of (seed, replication, name) alone: two parts of a
// program that ask for the same three get the same numbers, and a part that
// draws more or less than before disturbs no other. Seed and replication are
// separate, as in ns-3: a new replication is a new sample of the same study.
// Names carry no parameters of a variant, so that variants of one experiment
// share their uniforms (common random numbers).
//
//	arrivals := rng.New(1, 7, "arrivals")
//	gap := arrivals.Exp() / rate
//
// The generator is PCG-DXSM of math/rand/v2, whose outputs the Go project
// keeps stable; the transforms are this package's own, so that every draw is
// pinned by the golden vectors in the tests.
package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Stream is one sequence of random numbers. It is not safe for concurrent use.
type Stream struct{ pcg rand.PCG }

// New returns the stream named by (seed, replication, name).
func New(seed uint64, replication int, name string) *Stream {
	head := make([]byte, 16, 16+len(name))
	binary.LittleEndian.PutUint64(head, seed)
	binary.LittleEndian.PutUint64(head[8:], uint64(replication))
	sum := sha256.Sum256(append(head, name...))
	s := new(Stream)
	s.pcg.Seed(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))
	return s
}

// Uint64 returns 64 uniform bits.
func (s *Stream) Uint64() uint64 { return s.pcg.Uint64() }

// Float64 returns a uniform number in [0, 1), a multiple of 2^-53.
func (s *Stream) Float64() float64 { return float64(s.pcg.Uint64()>>11) * 0x1p-53 }

// IntN returns a uniform integer in [0, n) by Lemire's multiplication with
// rejection; n must be positive. IntN(1) draws nothing.
func (s *Stream) IntN(n int) int {
	if n <= 1 {
		if n == 1 {
			return 0
		}
		panic("rng: IntN of a number below one")
	}
	hi, lo := bits.Mul64(s.pcg.Uint64(), uint64(n))
	if lo < uint64(n) {
		for floor := -uint64(n) % uint64(n); lo < floor; {
			hi, lo = bits.Mul64(s.pcg.Uint64(), uint64(n))
		}
	}
	return int(hi)
}

// Exp returns an exponential variate of mean one, -ln(1-U).
func (s *Stream) Exp() float64 { return -math.Log(1 - s.Float64()) }

// Normal returns a standard normal variate by Box and Muller's transform; it
// always draws two uniforms and keeps nothing, so that a stream's position
// is a function of the number of calls.
func (s *Stream) Normal() float64 {
	r := math.Sqrt(-2 * math.Log(1-s.Float64()))
	return r * math.Cos(2*math.Pi*s.Float64())
}

// Mix returns a hash of x: the finaliser of SplitMix64 (Steele, Lea and Flood,
// 2014, Fast Splittable Pseudorandom Number Generators).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
