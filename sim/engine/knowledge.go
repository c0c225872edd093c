package engine

import (
	"math"

	"switchyard/sim/heap"
	"switchyard/sim/rng"
)

// Knowledge is what admission knows of a request's output. What it expects is
// at least one token, and never more than fits beside the prompt.
type Knowledge struct {
	Output       string  `yaml:"output_known" default:"exact" enum:"exact|maximum|noisy|nothing" doc:"what admission knows of the length of an output: all, only its maximum, a prediction with a lognormal error, or nothing; a request that outlives what was expected of it may be preempted, or have others preempted, when memory runs out"`
	OutputMax    int     `yaml:"output_max_tokens" default:"0" min:"0" unit:"tokens" doc:"the maximum, where that is known; longer outputs are their own maximum; 0 = by output_max_factor"`
	OutputFactor float64 `yaml:"output_max_factor" default:"2" min:"1" unit:"ratio" doc:"maximum over length of the output, where output_max_tokens is 0"`
	OutputError  float64 `yaml:"output_error" default:"0.5" min:"0" max:"10" doc:"standard deviation of the logarithm of a prediction over the length; its median is the length"`
}

// exact reports whether nothing is left to chance.
func (k *Knowledge) exact() bool { return k.Output == "exact" }

// Expect returns the output tokens that are expected of a request with so many:
// at least one. A prediction is a function of random and the request alone.
func (k *Knowledge) Expect(id, output int32, random uint64) int64 {
	switch k.Output {
	case "maximum":
		if k.OutputMax > 0 {
			return int64(max(k.OutputMax, int(output)))
		}
		return int64(math.Ceil(float64(output) * k.OutputFactor))
	case "noisy":
		a := rng.Mix(random + 2*uint64(id))
		b := rng.Mix(random + 2*uint64(id) + 1)
		u, v := float64(a>>11)*0x1p-53, float64(b>>11)*0x1p-53
		z := math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
		return int64(min(max(1, math.Round(float64(output)*math.Exp(k.OutputError*z))), 1e9))
	case "nothing":
		return 1
	}
	return int64(output)
}

// horizon knows of the decodes that run how much of their expected outputs is
// to come, and how many have outlived it, at a logarithm a request.
type horizon struct {
	ends heap.Heap // by the decode step with which the expectation ends; may hold requests that have left
	sum  int64     // of the steps of those that have not outlived it
	n    int64     // their number
}

func (h *horizon) reset() { h.ends, h.sum, h.n = h.ends[:0], 0, 0 }

// add enters a decode whose expectation ends with a step after passed.
func (h *horizon) add(id int32, step, passed int64, log *Log) {
	if step <= passed {
		return
	}
	log.last[id] = step
	h.ends.Push(heap.Item{Key: step, ID: id})
	h.sum += step
	h.n++
}

// pass brings it to a number of decode steps.
func (h *horizon) pass(passed int64, log *Log) {
	for len(h.ends) > 0 && h.ends[0].Key <= passed {
		if e := h.ends.Pop(); log.last[e.ID] == e.Key {
			h.remove(e.ID, log)
		}
	}
}

// remove takes out a decode, where it has not outlived its expectation.
func (h *horizon) remove(id int32, log *Log) {
	if step := log.last[id]; step > 0 {
		h.sum -= step
		h.n--
		log.last[id] = 0
	}
}

// left returns the expected tokens that are still to come.
func (h *horizon) left(passed int64) int64 { return h.sum - h.n*passed }
