// Package engine is one replica of a model: its scheduler, its KV cache with
// prefix reuse, and a clock that moves one engine step at a time.
//
// # Schedulers
//
// A table of them is Schedulers. lecture is described here, sglang-0.1 and
// preble at their parameters SGLang and Preble. These three share a KV cache by
// tokens, waiting orders, and what follows under the next headings; what vllm-v1
// does is described at VLLM.
//
// Under lecture a step computes, within a budget of new tokens (chunked prefill):
//
//  1. one token for every decoding request;
//  2. the rest of the running prefills, in order of admission, as far as the
//     budget goes;
//  3. requests from the queue, while budget is left and memory fits: the
//     uncached prompt and the expected output are reserved at admission; the
//     first request that does not fit blocks those behind it.
//
// The step takes what its StepModel says. At its end prefills that completed
// emit their first token and their segments become reusable; decodes emit one
// token each; requests that have all their tokens leave. What others see of
// the replica changes only then. Identical prompts that run at the same time
// are computed as often as they run.
//
// Where admission knows outputs exactly, nothing is ever preempted. Where it
// knows less (see Knowledge), a decode that outlives what was expected of it
// takes memory token by token. When there is none left and nothing to evict,
// the request that was admitted last is preempted: it goes to the front of the
// queue, keeps what it has made, and computes it again with its prompt. A step
// that preempts admits nothing.
//
// # Waiting
//
// Orders: first come, first served; longest cached prefix; priority groups by
// cached share, taken from in proportion or by a cursor; shortest prompt;
// greatest priority. Equals wait in order of arrival. Ranks follow the cache at
// once. Yet no order goes through the queue: requests with the same prefix
// stand in one bucket, in a tree in which the first request of any range of
// prompt lengths is found at once, and a change of the cache moves only the
// buckets below the node that changed (see index). A request can leave the
// queue unserved or find it full (see Limits).
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
// What is evicted may be kept in host memory (see HostTier).
//
// # Invariants
//
// Cached and reserved tokens together never exceed the capacity. A node with
// cached tokens has fully cached ancestors. Every request that enters leaves
// exactly once: finished, rejected or timed out.
package engine
