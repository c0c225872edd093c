package router

import (
	"math"
	"slices"

	"switchyard/sim/rng"
)

var sglangBucketPolicy = Policy{
	Name:      "sglang-bucket",
	Summary:   "SGLang's buckets for prefill: each replica takes prompts of a range of lengths, unless the last 5 s gave one far more characters than another",
	Formula:   "if max c - min c > 32 and max c > 1.0001 min c: argmin c; else the replica whose range has the prompt's characters; c = characters sent within 5 s",
	Needs:     "the prompt's length; its own dispatches of the last seconds",
	Belief:    "none",
	Staleness: "none; what was sent in a window is not a load",
	TieBreak:  "the first index",
	Source:    "sglang sgl-model-gateway/src/policies/bucket.rs at 053b63ff, there for the prefill side of disaggregated serving",
	New:       func() Params { return new(SGLangBucket) },
}

// SGLangBucket gives replicas ranges of lengths.
type SGLangBucket struct {
	BalanceAbs   int64   `yaml:"balance_abs" default:"32" min:"0" unit:"chars" doc:"replicas are far apart when the most characters are more than this many above the fewest ..."`
	BalanceRatio float64 `yaml:"balance_ratio" default:"1.0001" min:"0" unit:"ratio" doc:"... and more than this many times as many"`
	AdjustS      float64 `yaml:"bucket_adjust_interval_s" default:"5" min:"0.001" max:"1000000" unit:"s" doc:"time between looks at the ranges, and the window of characters"`
}

// Build implements Params.
func (p *SGLangBucket) Build(e Env) Router {
	r := &sglangBucket{SGLangBucket: *p, stream: e.Random, periodNs: int64(p.AdjustS * 1e9), chars: make([]int64, e.Replicas)}
	from, to := e.span()
	r.from, r.most = from, make([]int64, to-from)
	r.nextNs = r.periodNs
	gap := int64(4096 / len(r.most))
	for i := range r.most {
		r.most[i] = int64(i+1)*gap - 1
	}
	r.most[len(r.most)-1] = math.MaxInt64
	return r
}

type sglangBucket struct {
	SGLangBucket
	stream   *rng.Stream
	periodNs int64
	nextNs   int64
	chars    []int64   // by replica: sent within the window
	from     int       // first replica of the router's pool
	most     []int64   // by replica of the pool: the end of its range, which begins after that of the one before
	mean     int64     // characters a replica when the ranges were last set
	sent     []lengthy // within the window from head on
	head     int
	lengths  []int64
}

// lengthy is a prompt that was sent at a time.
type lengthy struct {
	ns, chars int64
	replica   int32
}

func (r *sglangBucket) Route(id int32, v *View) int {
	v.Believed = none
	if v.NowNs >= r.nextNs {
		r.nextNs = v.NowNs - v.NowNs%r.periodNs + r.periodNs
		r.adjust()
	}
	chars := charsPerToken * int64(v.Work.Prompt[id])
	all := r.chars[r.from:][:len(r.most)]
	low, high := slices.Min(all), slices.Max(all)
	rule, chosen := "bucket", 0
	if high-low > r.BalanceAbs && float64(high) > r.BalanceRatio*float64(low) {
		rule, chosen = "imbalance", firstLeast(v.Up, r.chars)
	} else {
		for r.most[chosen] < chars {
			chosen++
		}
		chosen += r.from
		if !v.IsUp(chosen) {
			rule, chosen = "gone", int(v.Up[r.stream.IntN(len(v.Up))])
		}
	}
	if d := v.Decide(rule); d != nil {
		for _, i := range v.Up {
			d.Score[i] = float64(r.chars[i])
		}
	}
	r.note(chosen, chars, v.NowNs)
	return chosen
}

// note counts a prompt and takes those off that are older than the window.
func (r *sglangBucket) note(replica int, chars, now int64) {
	for r.head < len(r.sent) && now-r.sent[r.head].ns > r.periodNs {
		r.chars[r.sent[r.head].replica] -= r.sent[r.head].chars
		r.head++
	}
	if r.head > 1024 && r.head > len(r.sent)/2 {
		r.sent = r.sent[:copy(r.sent, r.sent[r.head:])]
		r.head = 0
	}
	r.chars[replica] += chars
	r.sent = append(r.sent, lengthy{now, chars, int32(replica)})
}

// adjust sets the ranges anew when the mean has moved by more than a factor of
// two: each ends at the length at which the prompts of the window, in order of
// their lengths, fill a mean load.
func (r *sglangBucket) adjust() {
	window := r.sent[r.head:]
	if len(window) == 0 {
		return
	}
	r.lengths = r.lengths[:0]
	total := int64(0)
	for _, s := range window {
		r.lengths = append(r.lengths, s.chars)
		total += s.chars
	}
	n := len(r.most)
	mean := total / int64(n)
	if r.mean != 0 && mean <= 2*r.mean && r.mean <= 2*mean {
		return
	}
	r.mean = mean
	slices.Sort(r.lengths)
	from, at := int64(0), 0
	for i := range n - 1 {
		end, sum := from+mean, int64(0)
		for at < len(r.lengths) && sum < mean {
			sum += r.lengths[at]
			at++
			if sum >= mean && r.lengths[at-1] > from {
				end = r.lengths[at-1]
			}
		}
		r.most[i] = end
		from = end + 1
	}
	r.most[n-1] = math.MaxInt64
}
