package router

import (
	"math"

	"switchyard/sim/rng"
)

var envoyPolicy = Policy{
	Name:      "envoy-least-request",
	Summary:   "Envoy's LEAST_REQUEST: the least loaded of a few replicas drawn, of all, or weights divided by load",
	Formula:   "equal weights: argmin active of `choices` draws; else earliest deadline with weight/(active+1)^bias",
	Needs:     "its own dispatches in flight",
	Belief:    "none",
	Staleness: "none; each Envoy worker counts its own alone",
	TieBreak:  "the first drawn; uniform among all with selection: full-scan; first index with weights",
	Source:    "Envoy's documentation of load balancers and of LeastRequestLbConfig, read in 2026; not verified against code",
	New:       func() Params { return new(Envoy) },
}

// Envoy is the policy LEAST_REQUEST. Draws are with replacement.
type Envoy struct {
	Selection string    `yaml:"selection" default:"choices" enum:"choices|full-scan" doc:"with equal weights: the least loaded of some draws, or of all replicas"`
	Choices   int       `yaml:"choices" default:"2" min:"2" max:"1024" unit:"replicas" doc:"draws, with replacement"`
	Weights   []float64 `yaml:"weights" min:"0.001" max:"1000000" doc:"weights of the replicas, repeated in turn over them; none or equal ones: selection decides"`
	Bias      float64   `yaml:"bias" default:"1" min:"0" max:"100" unit:"exponent" doc:"with unequal weights: how much load counts; 0 is weighted round robin"`
}

// Build implements Params.
func (p *Envoy) Build(e Env) Router {
	for i := range p.Weights {
		if p.Weights[i] != p.Weights[0] {
			return newEnvoyWeighted(p.Weights, p.Bias, e.Replicas)
		}
	}
	if p.Selection == "full-scan" {
		return envoyScan{e.Random}
	}
	return envoyChoices{e.Random, p.Choices}
}

type envoyScan struct{ stream *rng.Stream }

func (r envoyScan) Route(_ int32, v *View) int {
	v.Believed = -1
	explainLoads(v, "scan", v.Up)
	return argmin(v.Up, v.Requests, r.stream)
}

type envoyChoices struct {
	stream  *rng.Stream
	choices int
}

func (r envoyChoices) Route(_ int32, v *View) int {
	v.Believed = -1
	d := v.Decide("choices")
	best := int32(-1)
	for range r.choices {
		i := v.Up[r.stream.IntN(len(v.Up))]
		if best < 0 || v.Requests[i] < v.Requests[best] {
			best = i
		}
		if d != nil {
			d.Score[i] = float64(v.Requests[i])
		}
	}
	return int(best)
}

// explainLoads fills the decision with the loads of replicas.
func explainLoads(v *View, rule string, replicas []int32) {
	if d := v.Decide(rule); d != nil {
		for _, i := range replicas {
			d.Score[i] = float64(v.Requests[i])
		}
	}
}

// envoyWeighted picks by earliest deadline first: a pick moves a replica's
// deadline on by the inverse of what its weight is under its load.
type envoyWeighted struct {
	weights  []float64
	bias     float64
	now      float64 // deadline of the last pick
	deadline []float64
}

func newEnvoyWeighted(weights []float64, bias float64, replicas int) *envoyWeighted {
	r := &envoyWeighted{bias: bias}
	for i := range replicas {
		w := weights[i%len(weights)]
		r.weights = append(r.weights, w)
		r.deadline = append(r.deadline, 1/w)
	}
	return r
}

func (r *envoyWeighted) Route(_ int32, v *View) int {
	v.Believed = -1
	d := v.Decide("weights")
	best := v.Up[0]
	for _, i := range v.Up {
		if r.deadline[i] < r.deadline[best] {
			best = i
		}
		if d != nil {
			d.Score[i] = r.deadline[i]
		}
	}
	r.now = r.deadline[best]
	r.deadline[best] = r.now + 1/r.weight(best, v)
	return int(best)
}

// weight is a replica's weight under its load; with bias 1, the default, and 0
// without a call of math.Pow.
func (r *envoyWeighted) weight(i int32, v *View) float64 {
	switch r.bias {
	case 0:
		return r.weights[i]
	case 1:
		return r.weights[i] / float64(v.Requests[i]+1)
	}
	return r.weights[i] / math.Pow(float64(v.Requests[i]+1), r.bias)
}

// Down implements Follower.
func (r *envoyWeighted) Down(int, *View) {}

// Came implements Follower: who comes has a turn of its own weight from now.
func (r *envoyWeighted) Came(replica int, _ *View) {
	r.deadline[replica] = r.now + 1/r.weights[replica]
}
