// Package calibrate fits the model of a serving engine to the measured requests
// of a real server, and says how far the fit can be trusted.
//
// # What is fitted
//
// The coefficients of a step model (package hardware: max-linear, linear, or
// the efficiencies of the roofline), a constant time in the front end, and what
// a step costs more on an idle engine. They are fitted by simulation: each
// candidate plays the recorded requests through the scheduler with the server's
// own settings, and is judged by the latencies that come out. Nothing about
// single steps needs to be measured.
//
// # The method
//
//  1. A recording becomes a workload. Cached tokens, where recorded, are stood
//     for by a beginning that requests share.
//  2. The search starts from what the hardware's figures suggest (60 % of the
//     FLOP/s, 85 % of the bandwidth) and goes by Gauss and Newton's steps. A
//     single request's time to first token jumps where it just misses a step,
//     and after some hundred steps that is a matter of chance. So each
//     candidate plays a recording several times with slightly moved arrivals,
//     and residuals are means of log TTFT and log E2E over groups of about 40
//     requests: of like time, prompt, output, crowd and latency. Large residuals
//     count by their size, not its square (Huber's loss). What is suggested
//     counts as one faint observation, which decides where the data are silent.
//  3. Whether the scheduler is asynchronous is decided by which of both fits
//     better, unless it is given.
//  4. Each tenth of every recording (consecutive in time) is left out in turn,
//     and so is each recording where there are several. These fits start anew.
//     What they say of what they did not see is the error to believe.
//  5. The tenths also give each coefficient a standard error (jackknife). The
//     Jacobian of the groups' means, by coefficients, says what the data
//     identify: its singular values, and for each coefficient the least change
//     that the data would notice, with the others fixed, and with the others
//     compensating. With prompts of one length, for instance, time for each
//     request and time for each token of context are only known in sum.
//  6. Rivals are fitted: other assumptions about what the data do not hold
//     (attention at half the speed, a sharp knee, no tiles), and the linear
//     form. Those
//     with nearly the same loss cannot be told from the fit.
//
// Coefficients have five digits throughout, so that the cluster that is printed
// to be pasted is to the digit the one that was judged. A coefficient that ends
// at the least or greatest value of the search has no standard error. Where even
// the fitted data's mean TTFT or E2E is missed by more than 20 %, the model does
// not describe them, and nothing is offered to paste.
//
// # Intervals
//
// An interval of an error is a bootstrap over blocks of 40 consecutive requests,
// widened by the deviation of the simulated mean over all fits that might be
// right: the ten without a tenth, and the rivals. Where something was measured
// these agree, since they were all fitted to it; beyond, at other loads and
// lengths, they part, and the interval widens by as much. In the outlook, the
// greatest error on what was left out is added as well.
//
// # What the model leaves out
//
//   - Tokenisation and the network are one constant; both grow with the prompt.
//   - Kernels compute tiles of 128 tokens here at any number of tokens; real ones
//     choose a tile by it, and below about 256 a smaller one. CUDA graphs pad
//     decodes to a few batch sizes; between 10 and 40 decodes that is up to
//     about 1 %.
//   - The context of a chunked prefill is read again by each chunk; only the
//     attention's FLOPs are counted.
//   - Attention of prefills is taken from the model's shape at the speed of
//     matrix products: recordings with one prompt length cannot tell it apart.
//   - Clock changes under heat, other tenants' work on the host, and swapping.
//   - Asynchronous scheduling sees memory and sequences of finished requests one
//     step late; here it sees them at once.
//
// An example, with recordings at two loads:
//
//	result, err := calibrate.Run(ctx, runs, nil, calibrate.Options{Step: "max-linear", Engine: calibrate.Engine{
//		GPU: h100, Model: qwen3, TensorParallel: 1, Scheduler: "vllm-v1", Set: []string{"max_num_batched_tokens=8192", "num_blocks=18038"}}})
//	err = result.Print(os.Stdout)
package calibrate
