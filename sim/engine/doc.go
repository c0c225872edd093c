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

import "errors"

// Params are the parameters of a replica's scheduler. The last four are for
// ablation: they switch one rule of the engine off.
type Params struct {
	Scheduler   string `yaml:"scheduler" default:"lecture" enum:"lecture" doc:"rules by which a step is formed"`
	ChunkTokens int    `yaml:"chunk_tokens" default:"1024" min:"1" unit:"tokens" doc:"new tokens a step may compute, decodes included"`
	MaxRunning  int    `yaml:"max_running" default:"256" min:"1" unit:"requests" doc:"requests that may run at once"`
	Order       string `yaml:"order" default:"fcfs" enum:"fcfs|longest-prefix|priority-groups" doc:"order of the waiting queue: first come first served, longest cached prefix first, or groups by cached share served in proportion to their priority"`
	Groups      int    `yaml:"groups" default:"10" min:"1" max:"100" unit:"groups" doc:"number of priority groups (Preble, 2025, section 3.3)"`
	Evict       string `yaml:"evict" default:"segment" enum:"segment|token|none" doc:"what leaves a full cache: the least recently used leaf as a whole (as in SGLang), as much of its tail as is needed, or nothing, as if memory were unlimited"`

	Admit        string `yaml:"admit" default:"budget" enum:"budget|memory" doc:"ablation: admit while budget is left, or everything that memory holds"`
	Ready        string `yaml:"ready" default:"prefill-end" enum:"prefill-end|admission" doc:"ablation: when a prompt's segments become reusable"`
	CachePrivate bool   `yaml:"cache_private" default:"false" doc:"ablation: keep the private rest of a prompt in the cache, where nothing can hit it"`
}

// Scheduler is one entry of the table of schedulers.
type Scheduler struct{ Name, Summary, Source string }

// Schedulers lists the schedulers that Params.Scheduler names.
func Schedulers() []Scheduler {
	return []Scheduler{{
		"lecture",
		"decodes, then running prefills, then admissions while the chunk budget lasts; output reserved at admission, no preemption",
		"chunked prefill as in Sarathi-Serve (Agrawal et al., OSDI 2024), admission by reserved memory, radix cache with leaf-first LRU eviction as in SGLang (Zheng et al., 2024)",
	}}
}

// ErrTooLong is why a request is rejected: it can never fit into the KV cache.
var ErrTooLong = errors.New("prompt and output exceed the KV capacity")
