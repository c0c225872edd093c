package queueing

import "math"

var weightedRoundRobinPolicy = Policy{
	Name:      "weighted-round-robin",
	Summary:   "the servers in turn, each as often as its weight says and evenly spread",
	Needs:     "the servers' weights",
	Freshness: "none: weights are set once",
	Breaks:    "a weight that is wrong, or that no longer holds, overloads its server for good; sizes are not evened out",
	TieBreak:  "the first index",
	Speeds:    "weights are the speeds unless given",
	Source:    "the divisor method of Webster: Balinski and Young, 1982, Fair Representation",
	New:       func() Params { return new(WeightedRoundRobin) },
}

// WeightedRoundRobin sends each request to the server with the least
// (n + 1/2)/w, n being what this dispatcher has sent there and w the server's
// weight: at any moment the numbers are as near to the weights' proportions
// as whole numbers can be.
type WeightedRoundRobin struct {
	Weights []float64 `yaml:"weights" min:"0.000001" max:"1000000" doc:"weights of the servers, repeated in turn over them; none: their speeds"`
}

func (*WeightedRoundRobin) sees() sight { return seesNothing }

func (p *WeightedRoundRobin) build(e env) chooser {
	w := &weightedRoundRobin{weights: make([]float64, e.servers)}
	for i := range w.weights {
		if w.weights[i] = e.speed(i); len(p.Weights) > 0 {
			w.weights[i] = p.Weights[i%len(p.Weights)]
		}
	}
	for range e.config.System.Dispatchers {
		t := newTournament(e.servers)
		for i, weight := range w.weights {
			t.set(i, orderedBits(0.5/weight))
		}
		w.turn = append(w.turn, t)
		w.sent = append(w.sent, make([]int64, e.servers))
	}
	return w
}

type weightedRoundRobin struct {
	weights []float64
	turn    []tournament // by dispatcher: (n + 1/2)/w of each server
	sent    [][]int64    // n
}

func (w *weightedRoundRobin) pick(v *view) int {
	i := w.turn[v.from].min().id
	w.sent[v.from][i]++
	w.turn[v.from].set(i, orderedBits((float64(w.sent[v.from][i])+0.5)/w.weights[i]))
	return i
}

func (w *weightedRoundRobin) choose(b *block) {
	var v view
	for k := range b.n {
		v.from = int(b.from[k])
		b.server[k] = int32(w.pick(&v))
	}
}

// orderedBits maps numbers that are not negative to integers in their order.
func orderedBits(x float64) int64 { return int64(math.Float64bits(x)) }
