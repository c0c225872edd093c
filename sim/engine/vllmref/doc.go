// Package vllmref is a deliberately plain reference of the scheduler vllm-v1,
// for tests only. It is written from the scheduler's rules and from nothing
// else, keeps every block as a number in a slice, searches where a fast engine
// would index, and exists so that a fast engine can be compared with it
// request by request, to the microsecond. Nothing but tests may import it (a
// test here enforces that); it is not a test file itself because tests of
// other packages need it.
//
// # The rules
//
// A request that arrives at t joins the queue of its replica at t + admission
// delay. An idle replica starts a step at once, a busy one at the next step
// boundary. Within an instant steps end first, then arrivals queue, then steps
// are formed. A step of budget TokenBudget is formed so:
//
//  1. Running requests in order of admission, while budget is left. One with a
//     remaining prompt computes n = min(remaining, LongPrefillThreshold if
//     set, budget) tokens, any other decodes, n = 1. Where KV blocks for n
//     tokens are missing, the last of the running list is preempted (progress
//     to 0, blocks released, to the front of the queue, its outputs kept and
//     recomputed as part of the prompt) until they are there or the request
//     itself was the victim.
//  2. Unless a request was preempted in this step: waiting requests first in,
//     first out, while fewer than MaxSeqs run and budget is left. Full blocks
//     that are cached are taken over, n is what is left of the prompt, capped
//     in the same way; the first that does not fit ends the admissions.
//  3. The step takes BaseUs + PerRequestUs x B + PerPrefillUs x P +
//     PerContextUs x (C + D), for B requests, P prefill tokens and D decodes
//     with contexts of C tokens in sum, truncated to whole microseconds, at
//     least 1. At its end progress moves: a prefill that is complete and every
//     decode emit one token. A request with all outputs ends, and its blocks
//     are released.
//
// A full block is registered under its content (its tokens and all before
// them) when it is scheduled to be filled. A lookup returns the block that was
// registered first among those of the content. Released blocks go in reverse
// order to the tail of the free list and keep their registration until they
// are taken again, from the head.
//
// # Readings
//
// Where the rules can be read in more than one way, this package takes:
//
//  1. Rejection: a request of more than Blocks blocks for prompt + output
//     tokens is rejected, although the last output token never needs a place.
//     The router does not know: the request takes its turn of the round robin.
//  2. Arrival order: by ArrivalUs, equal ones by position in the slice.
//  3. The prompt of a preempted request is prompt + outputs so far, fixed when
//     it is preempted, for the remaining tokens, for chunking and for the cap
//     on hits. All of it counts in P, also when a single token remains. When it
//     is complete the next token is emitted, as after any prefill.
//  4. A hit is at most floor((prompt - 1) / BlockSize) blocks: the cap is in
//     whole blocks, so a hit never ends inside a block.
//  5. The lookup walks the prompt's blocks from the start and stops at the
//     first content that no block holds. Running requests look nothing up.
//  6. A block that fills with a content another block holds is registered
//     beside it, and the request keeps its own; a hit block is not registered
//     again. First means first registered: in order of steps, in a step in the
//     order of scheduling, in a request by position.
//  7. Blocks are taken for the n tokens of the step, not for the whole prompt.
//     A running request needs ceil((progress + n) / BlockSize) less what it
//     has, a waiting one the same with its hit in the place of progress.
//  8. The check before an admission is: new blocks + hit blocks that nobody
//     uses <= free blocks. The hit blocks leave the free list before new ones
//     are taken. A failed check changes nothing, the free list's order neither.
//  9. A release lowers the count of users of each block, the last block first;
//     those without users go to the tail then. Where a block of several users
//     stands is so decided by its last user alone.
//  10. Requests that end in one step release in order of the running list.
//  11. A victim is taken from the end of the whole running list. It is never
//     one that is scheduled in this step already, for the list is served in
//     order, so no budget comes back. Each victim goes to the very front, so
//     several of one step wait in their order of admission, without a delay.
//     One that is admitted again runs at the end of the list.
//  12. A request that preempts itself ends the first part of the step, which
//     counts as a step that preempted: it admits nothing.
//  13. The context of a decode is what it has computed before the step: prompt
//     + outputs so far - 1. The token that it computes is the D of C + D.
//  14. B counts the requests that the step computes tokens for. These are all
//     that run: nobody's demand of budget rises, but that of the last of the
//     list. Hits cost neither budget nor time.
//  15. The last output token is never computed, so a block that only it would
//     fill is never registered. A block that a decode fills is registered when
//     that decode is scheduled.
//  16. Hits at the first admission are the CachedTokens of a request, also if
//     it is preempted later. TTFT is of the first token, and never moves.
//  17. TTFT and E2E count from ArrivalUs, so the admission delay is in both;
//     FrontEndUs is added to both once, at the end.
//  18. The time of a step is summed in 64-bit floats in the order of the
//     formula, each product rounded before it is added.
//  19. All blocks are free at the start, in order of their numbers.
//
// # Example
//
//	outcomes, err := vllmref.Run(vllmref.Config{
//		Replicas: 1, BaseUs: 1000, PerPrefillUs: 10, PerContextUs: 1,
//		BlockSize: 4, Blocks: 5, TokenBudget: 8, MaxSeqs: 2,
//	}, []vllmref.Request{
//		{PrefixGroup: -1, PromptTokens: 6, OutputTokens: 4},
//		{PrefixGroup: -1, PromptTokens: 5, OutputTokens: 3},
//	})
//	// outcomes[0].TTFTUs == 1080, outcomes[1].E2EUs == 4147
package vllmref
