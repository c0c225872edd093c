package dist

import "math"

// NewZipf returns the finite Zipf distribution over n ranks, rank k = i+1
// having the probability
//
//	p_k = k^-a / sum_j j^-a
//
// n is at least 1; a may be any number, and 0 makes all ranks alike.
func NewZipf(n int, a float64) *Discrete {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -a)
	}
	return NewDiscrete(weights)
}
