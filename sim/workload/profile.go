package workload

import (
	"math"
	"slices"
)

// Profile describes a workload in the terms in which papers describe theirs
// (Preble, 2025, table 1). Means and standard deviations are over requests
// unless said otherwise; deviations divide by the number, not by one less.
type Profile struct {
	Requests       int
	PromptMean     float64 // tokens
	PromptSD       float64
	OutputMean     float64
	OutputSD       float64
	RatioMean      float64 // mean of prompt over output
	RatioOfMeans   float64
	RatioMedian    float64
	SharedMean     float64 // share of a prompt that some other request's prompt begins with too
	SharedSD       float64
	SharedTokens   float64 // the same over all prompt tokens together
	KeyMean        float64 // share of a prompt up to the end of its key portion; 0 without one
	KeySD          float64
	KeyPortions    int     // distinct key portions
	KeyShared      int     // those that are the key portion of at least two requests
	SharersMean    float64 // requests that a key portion is of, over the key portions that are shared; NaN without one
	SharersSD      float64
	Gaps           int     // between consecutive arrivals that have times
	GapMean        float64 // us; this and the rest NaN without gaps
	GapMedian      float64
	GapCV          float64
	GapMin, GapMax float64
	PromptTokens   int64
	CeilingTokens  int64 // sum of Ceiling
	PromptBlocks   int64 // ceil(prompt / BlockTokens), summed
	// CeilingBlocks sums floor(ceiling / BlockTokens), plus the last, partial
	// block of a prompt that is wholly within its ceiling.
	CeilingBlocks int64
}

// Profile measures the workload.
//
// A key portion counts as shared when at least two requests have it: a
// document that one request has is shared by nobody. Table 1 can only be read
// so. There 88 % of a video prompt are shared with a deviation of 32 %, hence
// one request in nine shares nothing and, were its video counted, the mean
// number of sharers could not exceed 9 nor its deviation be as low as 2.
func (w *Workload) Profile() Profile {
	p := Profile{Requests: w.Len()}
	n := w.Len()
	ratio, shared, key := make([]float64, n), make([]float64, n), make([]float64, n)
	prompt, output := make([]float64, n), make([]float64, n)
	deepest := w.sharedEnds(w.visits())
	var sharedTokens int64
	for i := range n {
		tokens := float64(w.Prompt[i])
		prompt[i], output[i] = tokens, float64(w.Output[i])
		ratio[i] = tokens / output[i]
		if leaf := w.Leaf[i]; leaf != None {
			shared[i] = float64(deepest[leaf]) / tokens
			sharedTokens += int64(deepest[leaf])
			key[i] = float64(w.Forest.End[w.Key[i]]) / tokens
		}
	}
	p.PromptMean, p.PromptSD = meanSD(prompt)
	p.OutputMean, p.OutputSD = meanSD(output)
	p.RatioMean, _ = meanSD(ratio)
	p.RatioOfMeans = p.PromptMean / p.OutputMean
	p.RatioMedian = median(ratio)
	p.SharedMean, p.SharedSD = meanSD(shared)
	p.KeyMean, p.KeySD = meanSD(key)
	w.profileKeys(&p)
	w.profileGaps(&p)
	w.profileCeiling(&p)
	p.SharedTokens = float64(sharedTokens) / float64(p.PromptTokens)
	return p
}

// visits counts, for each node, the requests whose prompt has it.
func (w *Workload) visits() []int32 {
	visits := make([]int32, w.Forest.Nodes())
	for _, leaf := range w.Leaf {
		if leaf != None {
			visits[leaf]++
		}
	}
	for n := len(visits) - 1; n >= 0; n-- { // children stand behind their parents
		if up := w.Forest.Parent[n]; up != None {
			visits[up] += visits[n]
		}
	}
	return visits
}

// sharedEnds returns, for each node, the end of the deepest node on its path
// that at least two requests have.
func (w *Workload) sharedEnds(visits []int32) []int32 {
	f := &w.Forest
	deepest := make([]int32, f.Nodes())
	for n := range deepest {
		switch {
		case visits[n] > 1:
			deepest[n] = f.End[n]
		case f.Parent[n] != None:
			deepest[n] = deepest[f.Parent[n]]
		}
	}
	return deepest
}

func (w *Workload) profileKeys(p *Profile) {
	requests := make([]int32, w.Forest.Nodes())
	for _, k := range w.Key {
		if k != None {
			requests[k]++
		}
	}
	var sharers []float64
	for _, n := range requests {
		if n > 0 {
			p.KeyPortions++
		}
		if n > 1 {
			sharers = append(sharers, float64(n))
		}
	}
	p.KeyShared = len(sharers)
	p.SharersMean, p.SharersSD = meanSD(sharers)
}

func (w *Workload) profileGaps(p *Profile) {
	var gaps []float64
	last := int64(None)
	for _, at := range w.ArrivalUs {
		if at == None {
			continue
		}
		if last != None {
			gaps = append(gaps, float64(at-last))
		}
		last = at
	}
	p.Gaps = len(gaps)
	p.GapMin, p.GapMax = math.NaN(), math.NaN()
	mean, sd := meanSD(gaps)
	p.GapMean, p.GapCV, p.GapMedian = mean, sd/mean, median(gaps)
	if len(gaps) > 0 {
		p.GapMin, p.GapMax = slices.Min(gaps), slices.Max(gaps)
	}
}

func (w *Workload) profileCeiling(p *Profile) {
	block := int64(w.BlockTokens)
	for i, c := range w.Ceiling {
		prompt, ceiling := int64(w.Prompt[i]), int64(c)
		p.PromptTokens += prompt
		p.CeilingTokens += ceiling
		p.PromptBlocks += (prompt + block - 1) / block
		p.CeilingBlocks += ceiling / block
		if ceiling == prompt && prompt%block != 0 {
			p.CeilingBlocks++
		}
	}
}

// meanSD returns NaN for an empty sample.
func meanSD(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		sd += float64((x - mean) * (x - mean))
	}
	return mean, math.Sqrt(sd / float64(len(xs)))
}

// median is the type-7 sample median; NaN for an empty sample. It sorts a copy.
func median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
