package router

import (
	"math"
	"slices"

	"switchyard/sim/workload"
)

// The scorers of llm-d, each from 0 to 1 over the candidates. Those that go by
// a least and a greatest are free of scale: queues of 0 and 1 score as queues
// of 0 and 1000 do.

// spread scores by (most - x)/(most - least), 1 where all are equal.
func (r *llmD) spread(x func(i int32) float64) {
	low, high := span(r.up, x)
	for _, i := range r.up {
		r.score[i] = 1
		if high > low {
			r.score[i] = (high - x(i)) / (high - low)
		}
	}
}

func (r *llmD) queue(_ int32, v *View) {
	r.spread(func(i int32) float64 { return float64(gauge(v, i).Waiting) })
}

func (r *llmD) running(_ int32, v *View) {
	r.spread(func(i int32) float64 { return float64(gauge(v, i).Running) })
}

func (r *llmD) kvUtilization(_ int32, v *View) {
	for _, i := range r.up {
		r.score[i] = 1 - kvUse(v, i)
	}
}

// kvUse returns the share of a replica's KV cache that running requests hold.
func kvUse(v *View, replica int32) float64 {
	if v.KVTokens == 0 {
		return 0
	}
	return float64(gauge(v, replica).KVTokens) / float64(v.KVTokens)
}

func (r *llmD) prefix(int32, *View) {
	for _, i := range r.up {
		r.score[i] = r.share(i)
	}
}

// share returns the share of the prompt's blocks that a replica has.
func (r *llmD) share(replica int32) float64 {
	if r.blocks == 0 {
		return 0
	}
	return float64(r.matched[replica]) / float64(r.blocks)
}

func (r *llmD) loadAware(_ int32, v *View) {
	for _, i := range r.up {
		r.score[i] = .5 * (1 - float64(min(gauge(v, i).Waiting, 128))/128)
	}
}

func (r *llmD) activeRequest(_ int32, v *View) {
	_, most := span(r.up, func(i int32) int32 { return v.Requests[i] })
	for _, i := range r.up {
		r.score[i] = 1
		if v.Requests[i] > 0 {
			r.score[i] = float64(most-v.Requests[i]) / float64(most)
		}
	}
}

// llmDTokens are the tokens in flight at which token-load is 0.
const llmDTokens = 4194304

func (r *llmD) tokenLoad(_ int32, v *View) {
	for _, i := range r.up {
		r.score[i] = 1 - float64(min(v.Tokens[i], llmDTokens))/llmDTokens
	}
}

func (r *llmD) session(id int32, v *View) {
	last := int32(none)
	if s := sessionOf(v.Work, id); s != workload.None {
		if at, ok := r.served[s]; ok {
			last = at
		}
	}
	for _, i := range r.up {
		r.score[i] = 0
		if i == last {
			r.score[i] = 1
		}
	}
}

// noHitLRU ranks replicas that never had a request without a hit first, in
// order, then the others by how long ago they had one.
func (r *llmD) noHitLRU(int32, *View) {
	n := len(r.up)
	switch {
	case r.hit:
		for _, i := range r.up {
			r.score[i] = .5
		}
		return
	case n == 1:
		r.score[r.up[0]] = 1
		return
	}
	never := 0
	for _, i := range r.up {
		if !slices.Contains(r.cold, i) {
			r.score[i] = 1 - float64(never)/float64(n-1)
			never++
		}
	}
	for k, i := range r.cold {
		r.score[i] = 1 - float64(never+k)/float64(n-1)
	}
}

// The weights of the two times in the latency score.
const (
	llmDTTFT = .8
	llmDTPOT = .2
)

// latency scores without a target: the shorter the better, relative to the
// spread; a time that is the same for all counts nothing, and while some
// replica is idle only idle ones count.
func (r *llmD) latency(_ int32, v *View) {
	if !r.predicts {
		for _, i := range r.up {
			r.score[i] = 0
		}
		return
	}
	idle := slices.ContainsFunc(r.up, func(i int32) bool { return v.Requests[i] == 0 })
	counts := func(i int32) bool { return !idle || v.Requests[i] == 0 }
	bestT, worstT := math.Inf(1), 0.
	bestP, worstP := math.Inf(1), 0.
	for _, i := range r.up {
		if counts(i) {
			bestT, worstT = min(bestT, r.ttft[i]), max(worstT, r.ttft[i])
			bestP, worstP = min(bestP, r.tpot[i]), max(worstP, r.tpot[i])
		}
	}
	wT, wP := llmDTTFT, llmDTPOT
	switch {
	case bestT == worstT && bestP == worstP:
		wT, wP = 0, 0
	case bestT == worstT:
		wT, wP = 0, 1
	case bestP == worstP:
		wT, wP = 1, 0
	}
	for _, i := range r.up {
		r.score[i] = 0
		switch {
		case !counts(i):
		case wT+wP == 0:
			r.score[i] = 1
		default:
			if wT > 0 {
				r.score[i] += wT * (worstT - r.ttft[i]) / (worstT - bestT)
			}
			if wP > 0 {
				r.score[i] += wP * (worstP - r.tpot[i]) / (worstP - bestP)
			}
		}
	}
}

// The bounds of saturation.
const (
	llmDWaiting  = 5
	llmDKVUse    = .8
	llmDRequests = 100
	llmDInFlight = 1000000
)

// filter sets the candidates.
func (r *llmD) filter(v *View) {
	r.up = append(r.up[:0], v.Up...)
	if r.p.Saturation != "off" {
		r.narrow(func(i int32) bool {
			if r.p.Saturation == "concurrency" {
				return v.Requests[i] < llmDRequests && v.Tokens[i] < llmDInFlight
			}
			return gauge(v, i).Waiting <= llmDWaiting && kvUse(v, i) <= llmDKVUse
		})
	}
	if r.p.AffinityThreshold == 0 || len(r.up) == 1 || r.stream.Float64() < r.p.AffinityExplore {
		return
	}
	sticky := func(i int32) bool { return r.share(i) >= r.p.AffinityThreshold }
	if r.predicts && r.p.AffinityTTFTMs > 0 {
		kept, other := math.Inf(1), math.Inf(1)
		for _, i := range r.up {
			if sticky(i) {
				kept = min(kept, r.ttft[i])
			} else {
				other = min(other, r.ttft[i])
			}
		}
		if kept-other > r.p.AffinityTTFTMs {
			return
		}
	}
	r.narrow(sticky)
}

// narrow keeps the candidates that keep holds for, or all where it holds for none.
func (r *llmD) narrow(keep func(i int32) bool) {
	n := 0
	for k, i := range r.up {
		if keep(i) {
			r.up[k], r.up[n] = r.up[n], i // in order among the kept
			n++
		}
	}
	if n > 0 {
		r.up = r.up[:n]
	}
}
