package router

import "switchyard/sim/workload"

// The times of a prefill by AIBrix's formulas, in seconds. Each has one for the
// linear layers, by new tokens, one for attention, by context, and one for what
// attention adds to long prefills; their sum is divided by .9.

// prompt returns the cost of a prompt's last node of so many tokens: its
// prefill, by the share of the prompt that it is, which is the miss rate.
func (r *aibrixPreble) prompt(tokens, context int32) float64 {
	n, c := float64(tokens), float64(context)
	ms := a6000Linear(n) + a6000Attention(n, c) + a6000Long(n)
	if r.p.GPU == "V100" {
		ms = v100Linear(n) + v100Attention(n, c) + v100Long(n)
	}
	return n / c * (ms / .9) / 1000
}

// whole returns the cost of a node of the forest as a prompt's last.
func (r *aibrixPreble) whole(node int32, w *workload.Workload) float64 {
	return r.prompt(w.Forest.Tokens[node], w.Forest.End[node])
}

// decode returns the cost of outputs, which counts once a node.
func (r *aibrixPreble) decode() float64 { return r.p.OutputTokens * r.p.TokenS }

func a6000Linear(n float64) float64 {
	switch {
	case n >= 384:
		return float64(.10842571*n) + 4.209777054806409
	case n >= 192:
		return -118 + float64(1.25*n) - float64(2.56e-3*n*n)
	}
	return 22
}

func v100Linear(n float64) float64 {
	switch {
	case n >= 384:
		return float64(.27106428*n) + 10.52444263
	case n >= 192:
		return -295 + float64(3.125*n) - float64(6.4e-3*n*n)
	}
	return 55
}

func a6000Attention(n, context float64) float64 {
	if context <= 1024 {
		return .32
	}
	return halved(n, float64(1.86e-4*context)+.159)
}

func v100Attention(n, context float64) float64 {
	if context <= 1024 {
		return .8
	}
	return halved(n, float64(4.65e-4*context)+.398)
}

// halved halves the time of attention where few keys are new.
func halved(n, ms float64) float64 {
	if n <= 1024 {
		return ms / 2
	}
	return ms
}

func a6000Long(n float64) float64 {
	if n < 4096 {
		return 0
	}
	return -7.37 + float64(3.86e-3*n) + float64(2.16e-6*n*n)
}

func v100Long(n float64) float64 {
	if n < 4096 {
		return 0
	}
	return -18.425 + float64(9.65e-3*n) + float64(5.4e-6*n*n)
}
