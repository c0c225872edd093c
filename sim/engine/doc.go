// Package engine is one replica of a model: its scheduler, its KV cache with
// prefix reuse, and a clock that moves one engine step at a time.
//
// # Scheduler lecture
//
// A step computes, within a budget of new tokens (chunked prefill):
//
//  1. one token for every decoding request;
//  2. the rest of the running prefills, in order of admission, as far as the
//     budget goes;
//  3. requests from the queue, while budget is left and memory fits: the
//     uncached prompt and the whole output are reserved at admission, so that
//     nothing is ever preempted; the first request that does not fit blocks
//     those behind it.
//
// The step takes what its StepModel says. At its end prefills that completed
// emit their first token and their segments become reusable; decodes emit one
// token each; requests that have all their tokens leave. What others see of
// the replica changes only then. Identical prompts that run at the same time
// are computed as often as they run.
//
// # KV cache
//
// Token-granular, over the nodes of the workload's prefix forest. A prompt
// hits the longest cached prefix, at most all tokens but its last, which is
// always computed. The paths of running requests are pinned. When memory is
// short, the least recently used unpinned leaf goes first; use ends when the
// last request that pinned it leaves. The list of unpinned nodes is kept
// in order of their last unpinning, a path from its leaf up; then its head is
// always a leaf, since a node's cached descendants were unpinned before it.
//
// # Invariants
//
// Cached and reserved tokens together never exceed the capacity. A node with
// cached tokens has fully cached ancestors. Every request that enters leaves
// exactly once, finished or rejected.
package engine
