// Package aggregate turns the replications of an experiment into statements:
// its tables of cells into tables `summary` and `comparisons`, and into the
// short table that a run prints at its end.
//
// Each job of an experiment has a table of cells: `cells` (simulate), `balls`,
// `dispatch` and `selections` (choose). Their metrics are the columns with the tag better; column
// `job` of the results says whose a row is.
//
// The recipe:
//
//  1. Cells are gathered into configurations: a configuration is a cell
//     without its replication. Missing replications are an error unless
//     Options.AllowMissing: an interval over the runs that happened to finish
//     answers another question.
//  2. With another warm-up or objective than that of the cells, the metrics are
//     measured anew from table `requests`, which must hold all requests; the
//     tables of the simulation stay as they are.
//  3. A configuration is saturated or not, see saturation.go. It is a property
//     of all its replications together.
//  4. `summary`: a row a configuration and metric. The mean over replications
//     and its 95 % Student t interval, NULL with one replication; for
//     quantiles, the quantile of all replications' requests together beside
//     it, where they are kept. Where the cells have a value in theory, it stands
//     beside the mean with the deviation in standard errors.
//  5. `comparisons`: a row a configuration and metric against the baseline
//     router's configuration at the same point, paired by replication (both
//     saw the same requests): the difference with its paired t interval and p
//     value, corrected by Holm over the routers of that metric at that point;
//     the ratio of the means with Fieller's interval, and the median of the
//     replications' ratios. Ratios are NULL where either side is saturated:
//     past saturation a ratio measures how long the run was.
//  6. Doubts are warnings: text in column `warnings` of the rows they concern
//     and under the printed table. They never stop a run.
//
// A point is what routers share: a workload with its swept values (`tool
// rate_rps=4`) on a cluster with its own (`a6000x4`). An axis of a router
// belongs to the router: each of its values (`sticky threshold=0.25`) is a
// router to compare, and counts in Holm's correction. In dispatch a point is a
// system, and policies are its routers; in choose it is a system in a world, and
// optimisers are its routers; settings of balls and bins compete with nothing. A job without the baseline that another has takes its own first.
//
// In choose the sample is of pools of candidates: a pool, of which a replication
// may have several, takes the place of a replication, with the mean over the runs
// from its starts (gatherchosen.go).
//
// A replication in which a metric has no value (time per output token where
// every answer is one token) is left out of that metric and n says how many
// remain; a comparison uses the replications in which both sides have one.
//
//	result, err := aggregate.Run("out/quickstart", aggregate.Options{Baseline: "round-robin"})
//	if err == nil {
//		err = result.Print(os.Stdout)
//	}
package aggregate
