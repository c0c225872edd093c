package vllmref

import (
	"slices"
	"testing"
)

// The cases of this file are worked by hand from the rules, one rule each.

func TestChunksOfOne(t *testing.T) {
	c := small(8, 16)
	c.LongPrefillThreshold = 4
	expect(t, c, []Request{alone(0, 10, 1)}, []Outcome{{TTFTUs: 3100, E2EUs: 3100}}, `
		0-1040 A(hit 0) 0+4p[0]
		1040-2080 A 4+4p[0 1]
		2080-3100 A 8+2p[0 1 2]
	`)
	expect(t, small(8, 3), []Request{alone(0, 10, 1)}, []Outcome{{TTFTUs: 4100, E2EUs: 4100}}, `
		0-1030 A(hit 0) 0+3p[0]
		1030-2060 A 3+3p[0 1]
		2060-3090 A 6+3p[0 1 2]
		3090-4100 A 9+1p[0 1 2]
	`)
}

// TestChunksShareTheBudget: the threshold bounds each, the budget their sum.
func TestChunksShareTheBudget(t *testing.T) {
	c := small(8, 6)
	c.LongPrefillThreshold = 4
	expect(t, c, []Request{alone(0, 10, 1), alone(0, 10, 1)}, []Outcome{
		{TTFTUs: 3180, E2EUs: 3180},
		{TTFTUs: 4200, E2EUs: 4200},
	}, `
		0-1060 A(hit 0) 0+4p[0] B(hit 0) 0+2p[1]
		1060-2120 A 4+4p[0 2] B 2+2p[1]
		2120-3180 A 8+2p[0 2 3] B 4+4p[1 4]
		3180-4200 B 8+2p[1 4 5]
	`)
}

// TestPerRequest: the decode counts, the prefill of what budget is left does,
// the request that waits does not.
func TestPerRequest(t *testing.T) {
	c := small(8, 2)
	c.PerRequestUs = 100
	expect(t, c, []Request{alone(0, 1, 3), alone(0, 2, 1), alone(0, 1, 1)}, []Outcome{
		{TTFTUs: 1220, E2EUs: 3645},
		{TTFTUs: 2432, E2EUs: 2432},
		{TTFTUs: 3645, E2EUs: 3645},
	}, `
		0-1220 A(hit 0) 0+1p[0] B(hit 0) 0+1p[1]
		1220-2432 A 1+1[0] B 1+1p[1]
		2432-3645 A 2+1[0] C(hit 0) 0+1p[2]
	`)
}

// TestFullyCached: at least the last token is computed, so with whole blocks
// the last block; what is hit ends at a block's end.
func TestFullyCached(t *testing.T) {
	expect(t, small(16, 64), []Request{
		grouped(0, 8, 8, 1),     // fills blocks 0 and 1
		grouped(10000, 8, 8, 1), // fully cached: recomputes its last block
		grouped(20000, 8, 9, 1), // both blocks
		grouped(30000, 6, 8, 1), // shares one and a half
		grouped(40000, 3, 8, 1), // shares less than one
	}, []Outcome{
		{TTFTUs: 1080, E2EUs: 1080},
		{TTFTUs: 1040, E2EUs: 1040, CachedTokens: 4},
		{TTFTUs: 1010, E2EUs: 1010, CachedTokens: 8},
		{TTFTUs: 1040, E2EUs: 1040, CachedTokens: 4},
		{TTFTUs: 1080, E2EUs: 1080},
	}, `
		0-1080 A(hit 0) 0+8p[0 1]
		10000-11040 B(hit 4) 4+4p[0 2]
		20000-21010 C(hit 8) 8+1p[0 1 3]
		30000-31040 D(hit 4) 4+4p[0 4]
		40000-41080 E(hit 0) 0+8p[5 6]
	`)
}

// TestSameStepHit: a block counts as soon as it is scheduled to be filled.
func TestSameStepHit(t *testing.T) {
	expect(t, small(16, 64), []Request{grouped(0, 8, 9, 1), grouped(0, 8, 9, 1)}, []Outcome{
		{TTFTUs: 1100, E2EUs: 1100},
		{TTFTUs: 1100, E2EUs: 1100, CachedTokens: 8},
	}, `
		0-1100 A(hit 0) 0+9p[0 1 2] B(hit 8) 8+1p[0 1 3]
	`)
}

// TestFirstRegisteredWins: A and B compute one prefix beside each other. B is
// first with its second block, A with its third; C gets the first of each.
func TestFirstRegisteredWins(t *testing.T) {
	c := small(10, 16)
	c.LongPrefillThreshold = 6
	expect(t, c, []Request{grouped(0, 12, 13, 1), grouped(0, 12, 13, 1), grouped(10000, 12, 13, 1)}, []Outcome{
		{TTFTUs: 3220, E2EUs: 3220},
		{TTFTUs: 2210, E2EUs: 2210, CachedTokens: 4},
		{TTFTUs: 1010, E2EUs: 1010, CachedTokens: 12},
	}, `
		0-1120 A(hit 0) 0+6p[0 1] B(hit 4) 4+6p[0 2 3]
		1120-2210 A 6+6p[0 1 4] B 10+3p[0 2 3 5]
		2210-3220 A 12+1p[0 1 4 6]
		10000-11010 C(hit 12) 12+1p[0 2 4 7]
	`)
}

// TestDuplicateOutlivesTheFirst: block 1 and then block 2 hold one content; D
// overwrites block 1, and E finds block 2.
func TestDuplicateOutlivesTheFirst(t *testing.T) {
	other := grouped(20000, 8, 8, 1)
	other.PrefixGroup = 1
	expect(t, small(4, 64), []Request{
		grouped(0, 8, 8, 1), grouped(10000, 8, 8, 1), other, grouped(30000, 8, 9, 1),
	}, []Outcome{
		{TTFTUs: 1080, E2EUs: 1080},
		{TTFTUs: 1040, E2EUs: 1040, CachedTokens: 4},
		{TTFTUs: 1080, E2EUs: 1080},
		{TTFTUs: 1010, E2EUs: 1010, CachedTokens: 8},
	}, `
		0-1080 A(hit 0) 0+8p[0 1]
		10000-11040 B(hit 4) 4+4p[0 2]
		20000-21080 C(hit 0) 0+8p[3 1]
		30000-31010 D(hit 8) 8+1p[0 2 1]
	`)
}

// TestTailGoesFirst: released in reverse order, the end of a prompt is
// overwritten before its start.
func TestTailGoesFirst(t *testing.T) {
	expect(t, small(3, 64), []Request{grouped(0, 8, 8, 1), alone(10000, 5, 1), grouped(20000, 8, 9, 1)}, []Outcome{
		{TTFTUs: 1080, E2EUs: 1080},
		{TTFTUs: 1050, E2EUs: 1050},
		{TTFTUs: 1050, E2EUs: 1050, CachedTokens: 4},
	}, `
		0-1080 A(hit 0) 0+8p[0 1]
		10000-11050 B(hit 0) 0+5p[2 1]
		20000-21050 C(hit 4) 4+5p[0 1 2]
	`)
}

// TestUseRefreshes: a hit moves a block to the tail, past younger ones.
func TestUseRefreshes(t *testing.T) {
	expect(t, small(4, 64), []Request{
		grouped(0, 4, 4, 1),     // block 0; free 1 2 3 0
		alone(10000, 8, 1),      // blocks 1 2; free 3 0 2 1
		grouped(20000, 4, 5, 1), // hits 0, takes 3; free 2 1 3 0
		alone(30000, 9, 1),      // takes 2 1 3
		grouped(40000, 4, 5, 1), // block 0 is still there
	}, []Outcome{
		{TTFTUs: 1040, E2EUs: 1040},
		{TTFTUs: 1080, E2EUs: 1080},
		{TTFTUs: 1010, E2EUs: 1010, CachedTokens: 4},
		{TTFTUs: 1090, E2EUs: 1090},
		{TTFTUs: 1010, E2EUs: 1010, CachedTokens: 4},
	}, `
		0-1040 A(hit 0) 0+4p[0]
		10000-11080 B(hit 0) 0+8p[1 2]
		20000-21010 C(hit 4) 4+1p[0 3]
		30000-31090 D(hit 0) 0+9p[2 1 3]
		40000-41010 E(hit 4) 4+1p[0 3]
	`)
}

// TestCheckCountsFreeHits: C lacks one block and two are free, but these are
// the ones that it would hit. It waits, and D, which fits, waits behind it.
func TestCheckCountsFreeHits(t *testing.T) {
	expect(t, small(4, 64), []Request{
		grouped(0, 8, 8, 1), alone(10000, 6, 3), grouped(10500, 8, 9, 1), alone(10600, 2, 1),
	}, []Outcome{
		{TTFTUs: 1080, E2EUs: 1080},
		{TTFTUs: 1060, E2EUs: 3075},
		{TTFTUs: 3605, E2EUs: 3605, CachedTokens: 8},
		{TTFTUs: 3505, E2EUs: 3505},
	}, `
		0-1080 A(hit 0) 0+8p[0 1]
		10000-11060 B(hit 0) 0+6p[2 3]
		11060-12067 B 6+1[2 3]
		12067-13075 B 7+1[2 3]
		13075-14105 C(hit 8) 8+1p[0 1 3] D(hit 0) 0+2p[2]
	`)
}

// TestHitsInUseAreNoBurden: the same prompt beside the one that uses the blocks
// fits in the block that is left.
func TestHitsInUseAreNoBurden(t *testing.T) {
	expect(t, small(4, 64), []Request{grouped(0, 8, 9, 2), grouped(500, 8, 9, 1)}, []Outcome{
		{TTFTUs: 1090, E2EUs: 1090 + 1020},
		{TTFTUs: 1090 + 1020 - 500, E2EUs: 1090 + 1020 - 500, CachedTokens: 8},
	}, `
		0-1090 A(hit 0) 0+9p[0 1 2]
		1090-2110 A 9+1[0 1 2] B(hit 8) 8+1p[0 1 3]
	`)
}

func TestMaxSeqs(t *testing.T) {
	c := small(16, 64)
	c.MaxSeqs = 1
	expect(t, c, []Request{alone(0, 4, 2), alone(0, 4, 1)}, []Outcome{
		{TTFTUs: 1040, E2EUs: 2045},
		{TTFTUs: 3085, E2EUs: 3085},
	}, `
		0-1040 A(hit 0) 0+4p[0]
		1040-2045 A 4+1[0 1]
		2045-3085 B(hit 0) 0+4p[2]
	`)
}

// TestPreemptsItself: B is last and finds no block. Its hit and its one new
// block do not fit while A runs; then it recomputes one token, as a prefill.
func TestPreemptsItself(t *testing.T) {
	expect(t, small(4, 64), []Request{alone(0, 7, 5), alone(0, 3, 6)}, []Outcome{
		{TTFTUs: 1100, E2EUs: 5142},
		{TTFTUs: 1100, E2EUs: 9173, Preemptions: 1},
	}, `
		0-1100 A(hit 0) 0+7p[0 1] B(hit 0) 0+3p[2]
		1100-2112 A 7+1[0 1] B 3+1[2]
		2112-3121 !B A 8+1[0 1 3]
		3121-4131 A 9+1[0 1 3]
		4131-5142 A 10+1[0 1 3]
		5142-6152 B(hit 4) 4+1p[2 3]
		6152-7158 B 5+1[2 3]
		7158-8165 B 6+1[2 3]
		8165-9173 B 7+1[2 3]
	`)
}

// TestTwoVictims: A's second chunk takes C's block, then B preempts itself.
// They come back in their order, before D, which arrived at the boundary.
func TestTwoVictims(t *testing.T) {
	c := small(5, 32)
	c.LongPrefillThreshold = 8
	expect(t, c, []Request{alone(0, 16, 1), alone(0, 4, 5), alone(0, 4, 5), alone(1160, 1, 1)}, []Outcome{
		{TTFTUs: 2240, E2EUs: 2240},
		{TTFTUs: 1160, E2EUs: 6352, Preemptions: 1},
		{TTFTUs: 1160, E2EUs: 6352, Preemptions: 1},
		{TTFTUs: 2150, E2EUs: 2150},
	}, `
		0-1160 A(hit 0) 0+8p[0 1] B(hit 0) 0+4p[2] C(hit 0) 0+4p[3]
		1160-2240 !C !B A 8+8p[0 1 4 3]
		2240-3310 B(hit 4) 4+1p[2 3] C(hit 0) 0+5p[4 1] D(hit 0) 0+1p[0]
		3310-4322 B 5+1[2 3] C 5+1[4 1]
		4322-5336 B 6+1[2 3] C 6+1[4 1]
		5336-6352 B 7+1[2 3] C 7+1[4 1]
	`)
}

// TestNoAdmissionAfterPreemption: B's first block repeats A's, so that B could
// come back at once, to A's block and the one that is left; it may not.
func TestNoAdmissionAfterPreemption(t *testing.T) {
	c := small(4, 64)
	c.LongPrefillThreshold = 3
	expect(t, c, []Request{grouped(0, 4, 5, 6), grouped(0, 4, 5, 6)}, []Outcome{
		{TTFTUs: 2100, E2EUs: 7191},
		{TTFTUs: 2100, E2EUs: 9221, Preemptions: 1},
	}, `
		0-1060 A(hit 0) 0+3p[0] B(hit 0) 0+3p[1]
		1060-2100 A 3+2p[0 2] B 3+2p[1 3]
		2100-3112 A 5+1[0 2] B 5+1[1 3]
		3112-4126 A 6+1[0 2] B 6+1[1 3]
		4126-5142 A 7+1[0 2] B 7+1[1 3]
		5142-6151 !B A 8+1[0 2 3]
		6151-7191 A 9+1[0 2 3] B(hit 4) 4+3p[0 1]
		7191-8211 B 7+2p[0 1 3]
		8211-9221 B 9+1[0 1 3]
	`)
}

// TestOutputsAreReused: what decodes computed is a later prompt's prefix, but
// for the last output token, which nobody computed.
func TestOutputsAreReused(t *testing.T) {
	said := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	turn := func(at int64, prompt, output []int64) Request {
		return Request{
			ArrivalUs: at, PrefixGroup: -1, Content: prompt, OutputContent: output,
			PromptTokens: len(prompt), OutputTokens: len(output),
		}
	}
	next := append(slices.Clone(said), 10)
	for _, c := range []struct{ output, hit int }{{5, 8}, {4, 4}, {1, 4}} {
		outcomes, err := Run(small(16, 64), []Request{
			turn(0, said[:4], said[4:4+c.output]), turn(50000, next, []int64{11}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := outcomes[1].CachedTokens; got != c.hit {
			t.Errorf("after %d outputs the next turn hits %d tokens, want %d", c.output, got, c.hit)
		}
	}
}

// TestLevelsOfSharing: content that branches twice, and equal blocks after
// different ones, which are different content.
func TestLevelsOfSharing(t *testing.T) {
	prompt := func(at int64, content ...int64) Request {
		return Request{ArrivalUs: at, Content: content, PromptTokens: len(content), OutputTokens: 1}
	}
	requests := []Request{
		prompt(0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 9),
		prompt(10000, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 9),
		prompt(20000, 1, 1, 1, 1, 5, 5, 5, 5, 3, 3, 3, 3, 9),
		prompt(30000, 2, 2, 2, 2, 3, 3, 3, 3, 9),
		prompt(40000, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 7),
	}
	outcomes, err := Run(small(40, 64), requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 8, 4, 0, 12} {
		if outcomes[i].CachedTokens != want {
			t.Errorf("request %d hits %d tokens, want %d", i, outcomes[i].CachedTokens, want)
		}
	}
}

// TestRejected: one token over all blocks, and the turn is used up.
func TestRejected(t *testing.T) {
	c := small(2, 64)
	c.Replicas = 2
	expect(t, c, []Request{alone(3, 5, 4), alone(2, 5, 3), alone(1, 4, 1)}, []Outcome{
		{Rejected: true},
		{TTFTUs: 1050, E2EUs: 1050 + 1006 + 1007},
		{TTFTUs: 1040, E2EUs: 1040},
	}, `
		1-1041 C(hit 0) 0+4p[0]
		2-1052 B(hit 0) 0+5p[0 1]
		1052-2058 B 5+1[0 1]
		2058-3065 B 6+1[0 1]
	`)
	c.Replicas = 1
	expect(t, c, []Request{alone(0, 9, 1)}, []Outcome{{Rejected: true}}, "")
}

// TestShortSteps: truncated to microseconds, and never nothing.
func TestShortSteps(t *testing.T) {
	c := small(4, 64)
	c.BaseUs, c.PerPrefillUs, c.PerContextUs = 0, 0.5, 0.01
	expect(t, c, []Request{alone(0, 7, 3)}, []Outcome{{TTFTUs: 3, E2EUs: 5}}, "")
}

// TestDelays: B is queued at the very boundary that A's step ends at; the front
// end's time is added at the end only.
func TestDelays(t *testing.T) {
	c := small(8, 64)
	c.AdmissionDelayUs, c.FrontEndUs = 40, 7
	expect(t, c, []Request{alone(0, 1, 2), alone(1010, 2, 1), alone(1011, 3, 1)}, []Outcome{
		{TTFTUs: 1050 + 7, E2EUs: 2072 + 7},
		{TTFTUs: 2072 - 1010 + 7, E2EUs: 2072 - 1010 + 7},
		{TTFTUs: 3102 - 1011 + 7, E2EUs: 3102 - 1011 + 7},
	}, `
		40-1050 A(hit 0) 0+1p[0]
		1050-2072 A 1+1[0] B(hit 0) 0+2p[1]
		2072-3102 C(hit 0) 0+3p[2]
	`)
}

// TestTiesInOrderGiven: those that arrive together are served as they stand.
func TestTiesInOrderGiven(t *testing.T) {
	c := small(8, 64)
	c.MaxSeqs = 1
	requests := make([]Request, 100)
	for i := range requests {
		requests[i] = alone(int64(1-i%2), 1, 1)
	}
	outcomes, err := Run(c, requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		at, place := int64(1-i%2), int64(i/2)+1
		if i%2 == 0 {
			place += 50
		}
		if want := 1010*place - at; o.E2EUs != want {
			t.Errorf("request %d: %d us, want %d", i, o.E2EUs, want)
		}
	}
}
