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
// is a new sample of groups, lengths, popularity and times. A trace is played
// as it was recorded, in one replication however many are asked for: nothing
// in it is drawn, so that there is no interval.
//
// With resample: auto, replication r of a trace is its r-th bootstrap resample:
// whole sessions where the trace knows them, else whole windows of time (see
// workload.NewResampler). Windows are biased: what a request shares with one in
// another window comes before it, after it, or not at all, as the draws have
// it, so that prefixes which live longer than a window lose hits. On
// Mooncake's conversations at twice their speed a cache-aware router on eight
// h100 hits 14.4 % of the prompt tokens of the trace, 9.3 % of those of
// resamples of 60 s windows, and 14.1 % with 900 s, of which that trace has
// four: long windows break less, and there are fewer to draw from. Every row
// measured with a resample says so in its warnings.
//
// Arrivals of the process trace have the trace's times in every replication,
// while the requests that come at these times are drawn anew; with resample:
// auto both are.
//
// # Rates
//
// A rate counts requests. Where a session has several turns, sessions start at
// the rate over their mean number of turns. The rate of requests then grows
// for about as long as a session lasts, turns × (answer + think time), stays,
// and ebbs away as the last sessions end. To come near the rate, ask for many
// times rate × length of a session: a chat of 4 turns lasts about a minute, so
// that 16 requests a second have a thousand of them in sessions under way.
// Rows whose arrivals miss the rate by more than 5 % say so in their warnings.
//
// # Tables
//
// Job writes one row a request to table `workload` and one row a replication
// to table `profile`. FromTable makes the very workload that Build makes.
package generate
