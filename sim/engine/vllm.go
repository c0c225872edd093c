package engine

var vllmScheduler = Scheduler{
	Name:    "vllm-v1",
	Summary: "running requests first, decodes and chunked prefills alike, then admissions while the token budget lasts; blocks of KV cache, preemption by recomputation",
	Source:  "the scheduler of vLLM's V1 engine (vLLM 0.8 and later; Kwon et al., SOSP 2023, for its blocks)",
	New:     func() Params { return new(VLLM) },
}

// VLLM are the parameters of the scheduler vllm-v1.
//
// # A step
//
//  1. Running requests, in order of admission, while budget is left: the rest of
//     a prompt as far as budget and threshold go, or one token. Where blocks are
//     missing, the last running request is preempted: it gives up its blocks,
//     goes to the front of the queue, keeps the tokens that it has made, and will
//     compute them again as if they were part of its prompt.
//  2. Unless one was preempted, waiting requests, first come, first served, while
//     sequences, budget and blocks last; one that does not fit blocks those
//     behind it. What is cached of a prompt, in full blocks and at most all
//     tokens but the last, costs nothing.
//  3. At the end of the step prefills that are complete, and decodes, emit a
//     token each; what others see of replica and cache changes only then. The
//     last output token is never computed, so it takes no place.
//
// # Blocks
//
// A block is known by its content and all before it once a step is to fill it,
// so a later request of the same step finds it; blocks that decodes fill are
// known too. The first block with a content that is still valid is found. A
// request that leaves gives up its blocks, the last one first; those that nobody
// else has go to the end of the free list and can be found until they are
// overwritten, from the list's head. A hit that is free leaves the list; a
// request fits when its new blocks and such hits are no more than what is free.
//
// KV figures in Stats are those of blocks that running requests hold, whole
// blocks counted, as vLLM reports them.
//
// # Cost
//
// A step that only decodes costs a few nanoseconds however many do: the blocks
// that they need are counted by the step in which they need them, and blocks are
// kept in runs (see blockPool).
//
// # Parameters
//
// They have the names that vLLM has for them. The defaults are those of its API server since 0.8 on GPUs of
// less than 70 GB and on the A100; on the H100 it takes 8,192 tokens and 1,024
// sequences since 0.9.
type VLLM struct {
	TokenBudget   int  `yaml:"max_num_batched_tokens" default:"2048" min:"1" max:"1000000000" unit:"tokens" doc:"new tokens that a step may compute, decodes included"`
	MaxSeqs       int  `yaml:"max_num_seqs" default:"256" min:"1" max:"1000000" unit:"requests" doc:"requests that may run at once"`
	LongPrefill   int  `yaml:"long_prefill_token_threshold" default:"0" min:"0" max:"1000000000" unit:"tokens" doc:"most prompt tokens of one request that a step computes; 0 for as many as the budget has"`
	BlockSize     int  `yaml:"block_size" default:"16" min:"1" max:"1000000" unit:"tokens" doc:"tokens of a block of KV cache"`
	Blocks        int  `yaml:"num_blocks" default:"0" min:"0" max:"1000000000" unit:"blocks" doc:"blocks of a replica; 0 for what memory holds"`
	PrefixCaching bool `yaml:"enable_prefix_caching" default:"true" doc:"reuse the full blocks of earlier prompts"`

	AdmissionDelayUs int64 `yaml:"admission_delay_us" default:"0" min:"0" max:"1000000000000" unit:"us" doc:"from the arrival at the replica to the waiting queue"`
	AsyncScheduling  bool  `yaml:"async_scheduling" default:"false" doc:"form each step when the one before it starts, so that a request joins the step after next"`
	IdleStepUs       int64 `yaml:"idle_step_us" default:"0" min:"0" max:"1000000000" unit:"us" doc:"added to a step that begins on an idle engine: work of the host that steps in a row hide behind each other"`
	FrontEndUs       int64 `yaml:"front_end_us" default:"0" min:"0" max:"1000000000000" unit:"us" doc:"added once to the times of first and last token, for what happens outside the engine; moves no clock"`
}

// NewReplica implements Params.
func (*VLLM) NewReplica() Replica { return new(vllm) }

// Rules implements Params.
func (p *VLLM) Rules() Rules {
	return Rules{Block: int32(p.BlockSize), FrontEndNs: p.FrontEndUs * 1000}
}

// KVTokens implements Sized.
func (p *VLLM) KVTokens(memory int64) int64 {
	if p.Blocks > 0 {
		return int64(p.Blocks) * int64(p.BlockSize)
	}
	return memory / int64(p.BlockSize) * int64(p.BlockSize)
}
