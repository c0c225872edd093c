// Package stats holds the small statistics that turn replications into
// statements: means with intervals, paired differences and ratios, corrected
// p values, quantiles, warm-up, growth.
//
// The recipe for simulation output, in order:
//
//  1. A replication gives one number a metric (a mean, a quantile, a share).
//     Numbers of different replications are independent; requests inside one
//     are not, so nothing here takes an interval from a single run.
//  2. Interval: Student's t over the replications' numbers.
//  3. Two configurations that saw the same requests are paired by replication:
//     Paired for the difference, Fieller for the ratio of the means.
//  4. Holm corrects the p values of one family of comparisons.
//  5. MSER5 on the replications' average series says whether the warm-up cut
//     was long enough; Fit says whether a backlog grows.
//
// Functions are pure and keep nothing of their arguments. Where a number does
// not exist (an interval of one value, a ratio to zero) the result is NaN or
// says so; nothing is invented and nothing panics on data. NaN among the
// arguments gives NaN: callers leave out what they do not have.
//
//	x := []float64{9.8, 10.4, 10.1, 9.9, 10.6}
//	mean, in := stats.Interval(x, 0.95) // 10.16 in [9.74, 10.58]
package stats
