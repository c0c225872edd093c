package vllmref

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// small is the setting of most cases: every number of a transcript can be
// worked by hand as 1,000 + 10 P + (C + D).
func small(blocks, budget int) Config {
	return Config{
		Replicas: 1, BaseUs: 1000, PerPrefillUs: 10, PerContextUs: 1,
		BlockSize: 4, Blocks: blocks, TokenBudget: budget, MaxSeqs: 8,
	}
}

// alone is a request that shares nothing.
func alone(at int64, prompt, output int) Request {
	return Request{ArrivalUs: at, PrefixGroup: -1, PromptTokens: prompt, OutputTokens: output}
}

// grouped is a request of group 0.
func grouped(at int64, prefix, prompt, output int) Request {
	return Request{ArrivalUs: at, PrefixTokens: prefix, PromptTokens: prompt, OutputTokens: output}
}

// String spells a step as the transcripts do: start-end, the requests that were
// preempted, then each request by its letter: context+tokens, p for a prefill, the
// hit of an admission and the blocks.
func (s Step) String() string {
	out := fmt.Sprintf("%d-%d", s.StartUs, s.EndUs)
	for _, r := range s.Preempted {
		out += fmt.Sprintf(" !%c", 'A'+r)
	}
	for _, w := range s.Work {
		out += fmt.Sprintf(" %c", 'A'+w.Request)
		if w.Admitted {
			out += fmt.Sprintf("(hit %d)", w.Cached)
		}
		out += fmt.Sprintf(" %d+%d", w.Context, w.Tokens)
		if w.Prefill {
			out += "p"
		}
		out += fmt.Sprint(w.Blocks)
	}
	return out
}

// expect runs the requests and compares outcomes and, unless want is empty, the
// steps, one a line.
func expect(t *testing.T, c Config, requests []Request, outcomes []Outcome, want string) {
	t.Helper()
	var steps []string
	got, err := Trace(c, requests, func(s Step) { steps = append(steps, s.String()) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, outcomes) {
		t.Errorf("outcomes\n%+v\nwant\n%+v", got, outcomes)
	}
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 && !slices.Equal(steps, lines) {
		t.Errorf("steps\n%s\nwant\n%s", strings.Join(steps, "\n"), strings.Join(lines, "\n"))
	}
}

// TestTranscript: two requests of distinct prompts that decode together.
func TestTranscript(t *testing.T) {
	c := small(5, 8)
	c.MaxSeqs = 2
	expect(t, c, []Request{alone(0, 6, 4), alone(0, 5, 3)}, []Outcome{
		{TTFTUs: 1080, E2EUs: 4147},
		{TTFTUs: 2117, E2EUs: 4147},
	}, `
		0-1080 A(hit 0) 0+6p[0 1] B(hit 0) 0+2p[2]
		1080-2117 A 6+1[0 1] B 2+3p[2 3]
		2117-3131 A 7+1[0 1] B 5+1[2 3]
		3131-4147 A 8+1[0 1 4] B 6+1[2 3]
	`)
}

// TestTranscriptPreempted: the same with a block less, so that B has to go and
// recomputes its two outputs with its prompt, of which block 2 is left.
func TestTranscriptPreempted(t *testing.T) {
	c := small(4, 8)
	c.MaxSeqs = 2
	expect(t, c, []Request{alone(0, 6, 4), alone(0, 5, 3)}, []Outcome{
		{TTFTUs: 1080, E2EUs: 4140},
		{TTFTUs: 2117, E2EUs: 5170, Preemptions: 1},
	}, `
		0-1080 A(hit 0) 0+6p[0 1] B(hit 0) 0+2p[2]
		1080-2117 A 6+1[0 1] B 2+3p[2 3]
		2117-3131 A 7+1[0 1] B 5+1[2 3]
		3131-4140 !B A 8+1[0 1 3]
		4140-5170 B(hit 4) 4+3p[2 3]
	`)
}
