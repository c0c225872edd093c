// Package hardware says what a GPU and a model are, how many tokens of KV
// cache fit beside the weights, and how long one engine step takes.
//
// A step model is a function of the engine's batch. StepModels lists them; all
// but the roofline take coefficients that someone has measured or fitted.
// With B requests in the step, P new prefill tokens in chunks of m tokens
// after done tokens of context, D decodes, and C the sum of their contexts:
//
//	roofline    max(FLOPs / (peak × mfu), bytes / (bandwidth × mbu)) + overhead
//	linear      base + per_request B + per_prefill_token P + per_context_token (C + D)
//	max-linear  overhead + per_request B
//	            + max(per_prefill_token P + attention, weights) + per_context_token (C + D)
//	regression  the functions of Preble's code, for its published measurements
//	table       measured times, interpolated
//
// The roofline (Williams, Waterman and Patterson, 2009) counts
//
//	FLOPs = 2 × active block parameters × new tokens
//	      + 4 × heads × head size × layers × Σ (m × done + m²/2)
//	bytes = weight bytes + KV bytes per token × Σ done
//
// with the sums over all requests of the step, decodes with m = 1 among them.
// The first term counts the matrix products of the transformer blocks, the
// second causal attention; embedding and output head are left out of the FLOPs
// and kept in the bytes. With tensor parallelism over d GPUs both terms are
// divided by d, and each layer adds two ring all-reduces of its activations.
//
// A mixture of experts computes with the k experts that each token is routed
// to, and reads the experts that any token of the step is routed to. Under
// uniform routing of n tokens to k of E experts each, that is an expected
//
//	E × (1 − (1 − k/E)^n)
//
// experts a layer. Trained routers are near uniform by design of their loss;
// where they are not, fewer experts are read.
//
// With fp8 weights the matrix products of the blocks run at the GPU's fp8 peak
// where it has one (else at the bf16 peak: only memory is saved), and their
// weights take one byte; norms, routers, embedding and head stay bf16, as in
// published checkpoints, and the scales are left out. With an fp8 KV cache a
// token takes half the bytes; attention still runs at the bf16 peak.
//
// Exact: parameter counts and KV bytes, from the models' published shapes.
// Published: peaks, bandwidths and memory sizes. Assumed: the utilisations mfu
// and mbu, the overhead, and the latency of an all-reduce; they are parameters.
// Left out of every model here: sampling, the host's time beyond a constant,
// and that reading a KV cache scattered over many requests is slower.
//
//	gpu, _ := hardware.FindGPU("a6000")
//	model, _ := hardware.FindModel("mistral-7b")
//	hardware.KVCapacity(gpu, model, 1, 0.9) // 219,089 tokens
//
// A step model rounds a step to whole nanoseconds, and conversions to float64
// keep a compiler from fusing multiply and add, which would change bits.
package hardware
