// Package generate makes workloads: from a generator and an arrival process,
// or from a recorded trace.
//
// It decodes an item of an experiment's `workloads`. A generated one names its
// generator, whose parameters stand beside it, the number of requests, and the
// arrivals:
//
//   - name: tool
//     generator: tool-use          # see list workloads
//     requests: {value: 500, per_replica: true}
//     arrivals: {process: poisson, rate_rps: {sweep: [4, 8, 12]}}
//
// A mixture has components instead, each with a share of the requests, and
// optionally the tags of its requests (its name by default):
//
//   - name: mixed
//     generator: mixture
//     components:
//     tool: {generator: tool-use, share: 0.5}
//     video: {generator: video-qa, share: 0.5, tags: [video, offline]}
//     requests: 4000
//     arrivals: {process: gamma, rate_rps: 8, burstiness: 2}
//
// A trace brings its times; the process trace uses those of a trace for
// generated requests:
//
//   - name: mine
//     trace: conversation.jsonl    # from the experiment file's folder
//     speed: {sweep: [1, 2, 4]}
//   - name: bursts
//     generator: tool-use
//     requests: 1000
//     arrivals: {process: trace, trace: code.csv, speed: 1.43}
//
// # Replications
//
// A generated workload is a function of (seed, replication): a new replication
// is a new sample of groups, lengths, popularity and times. Replication r of a
// trace is its r-th bootstrap resample: whole sessions where the trace knows
// them, else whole windows of time (see workload.NewResampler). With resample:
// none every replication is the trace itself, and an interval over them says
// nothing about the traffic.
//
// # Tables
//
// Job writes one row a request to table `workload` and one row a replication
// to table `profile`. FromTable makes the very workload that Build makes.
package generate
