package queueing

import "math"

var expectedWorkPolicy = Policy{
	Name:      "least-expected-work",
	Summary:   "the server whose requests are predicted to be done first, on predictions of their sizes",
	Needs:     "a prediction of each request's size, and when each starts and ends",
	Freshness: "at this moment",
	Breaks:    "a long request that was predicted short counts as done while it still blocks its server",
	TieBreak:  "a parameter",
	Speeds:    "compares times, predicted work over speed; with include_self the times at which the request would end",
	Source:    "least work left of Harchol-Balter et al., 1999, on predictions; knowledge 1 is lwl, knowledge 0 without progress is jsq",
	New:       func() Params { return new(ExpectedWork) },
}

// ExpectedWork takes the server with the least expected work. A request of size
// S is predicted to have the size
//
//	P = m (S/m)^k e^(v Z - v^2/2)
//
// with m the mean size, k Knowledge, v Noise and Z standard normal, drawn for
// each request whatever the policy. Knowledge is one axis from known sizes (1)
// over half known ones (0.5: half of the spread of ln S is seen) to unknown ones
// (0: all predictions alike).
//
// The expected work of a server is the sum of the predictions of its requests
// that have not ended, less what those in service have had of it, no request's
// part being less than 0. With Progress false nothing is taken off until a
// request ends.
type ExpectedWork struct {
	Knowledge float64 `yaml:"knowledge" default:"0.5" min:"0" max:"1" doc:"k, how much of a size its prediction knows: 1 known, 0.5 half known, 0 unknown"`
	Noise     float64 `yaml:"noise" default:"0" min:"0" max:"5" doc:"v, deviation of the logarithm of a prediction's error, which is 1 in the mean"`
	Progress  bool    `yaml:"progress" default:"true" doc:"whether service that a request has had is taken off its prediction"`
	Ties
	Self
}

func (*ExpectedWork) sees() sight { return seesExpected }

func (p *ExpectedWork) build(e env) chooser {
	return &expectedWork{ties: newTies(p.Ties, e), self: p.IncludeSelf && !e.equal}
}

// predict returns the prediction, in ticks, of a size.
func (p *ExpectedWork) predict(need int64, normal float64) int64 {
	x := math.Pow(float64(need)/ticksPerMean, p.Knowledge)
	if p.Knowledge == 1 {
		x = float64(need) / ticksPerMean
	}
	if p.Noise > 0 {
		x *= math.Exp(float64(p.Noise*normal) - p.Noise*p.Noise/2)
	}
	return toTicks(x * ticksPerMean)
}

type expectedWork struct {
	ties ties
	self bool
	keys []int64
	tied []int
}

func (w *expectedWork) pick(v *view) int {
	keys := v.loads()
	if w.self {
		w.keys = w.keys[:0]
		for i, work := range keys {
			w.keys = append(w.keys, work+v.service(i, v.guess))
		}
		keys = w.keys
	}
	w.tied = least(keys, w.tied[:0])
	return w.ties.among(w.tied, v.from)
}
