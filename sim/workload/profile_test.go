package workload

import (
	"math"
	"testing"

	"switchyard/sim/rng"
)

// The profile's sharing against the definition over all pairs of paths.
func TestProfileAgainstPlain(t *testing.T) {
	for trial := range 100 {
		s := rng.New(8, trial, "requests")
		requests := random(s, 2+s.IntN(30))
		w, p := build(t, requests), newPlain(requests)
		got := w.Profile()
		var shared, tokens, ceiling, ceilingBlocks, blocks float64
		sharers := map[string]float64{}
		for i := range requests {
			var most int32
			for j := range requests {
				if j != i {
					most = max(most, common(p.paths[i], p.paths[j]))
				}
			}
			prompt := float64(requests[i].Prompt)
			shared += float64(most) / prompt / float64(len(requests))
			tokens += prompt
			c := float64(p.ceiling(i))
			ceiling += c
			blocks += math.Ceil(prompt / 16)
			ceilingBlocks += math.Floor(c / 16)
			if c == prompt {
				ceilingBlocks += math.Ceil(prompt/16) - math.Floor(c/16)
			}
			if end := p.key(i); end > 0 {
				key := ""
				var at int32
				for _, segment := range p.paths[i] {
					if at += segment.Tokens; at <= end {
						key += string(rune('a' + segment.ID))
					}
				}
				sharers[key]++
			}
		}
		var sum, n float64
		for _, count := range sharers {
			if count > 1 {
				sum += count
				n++
			}
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"shared share", got.SharedMean, shared},
			{"prompt tokens", float64(got.PromptTokens), tokens},
			{"ceiling tokens", float64(got.CeilingTokens), ceiling},
			{"prompt blocks", float64(got.PromptBlocks), blocks},
			{"ceiling blocks", float64(got.CeilingBlocks), ceilingBlocks},
			{"key portions", float64(got.KeyPortions), float64(len(sharers))},
			{"sharers", got.SharersMean, sum / n},
		} {
			if !near(c.got, c.want) {
				t.Fatalf("trial %d: %s is %g, expected %g", trial, c.name, c.got, c.want)
			}
		}
	}
}

func TestProfileOfKnownNumbers(t *testing.T) {
	alone := func(at int64, prompt, output int32) Request {
		return Request{ArrivalUs: at, After: None, Session: None, OutputID: None, Prompt: prompt, Output: output}
	}
	p := build(t, []Request{alone(0, 10, 1), alone(10, 20, 4), alone(40, 30, 5)}).Profile()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"prompt mean", p.PromptMean, 20}, {"prompt sd", p.PromptSD, math.Sqrt(200. / 3)},
		{"ratio mean", p.RatioMean, 7}, {"ratio of means", p.RatioOfMeans, 6}, {"ratio median", p.RatioMedian, 6},
		{"gap mean", p.GapMean, 20}, {"gap median", p.GapMedian, 20}, {"gap cv", p.GapCV, .5}, {"gap min", p.GapMin, 10}, {"gap max", p.GapMax, 30},
		{"shared", p.SharedMean, 0}, {"key", p.KeyMean, 0},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s is %g, expected %g", c.name, c.got, c.want)
		}
	}
	if !math.IsNaN(p.SharersMean) {
		t.Errorf("sharers are %g where nothing is shared, expected NaN", p.SharersMean)
	}
}
