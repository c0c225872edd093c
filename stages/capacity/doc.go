// Package capacity finds the largest load that each configuration of an
// experiment carries: tables `capacity` and `probes`.
//
// A search belongs to a workload, a cluster and a router. Its axis is the
// workload's load: `arrivals.rate_rps` of generated requests, `speed` of a
// trace. What the file sweeps on that axis is one search, which starts at the
// first value.
//
// The recipe:
//
//  1. A probe runs the configuration at one load over all replications of the
//     experiment, with its seed and warm-up, and decides whether the load is
//     carried: something is served, it is not saturated, by the rule of package
//     aggregate, and, where an attainment is asked for, at least that share of
//     the requests that arrived in the windows met the objective.
//  2. From the start the load doubles while it is carried and halves while it
//     is not, until one load lo is carried and a greater one hi is not.
//  3. The bracket is halved at its geometric mean, rounded to four digits, until
//     hi <= (1 + tolerance) lo. The capacity is lo.
//
// It assumes that a configuration which carries a load carries less. Near its
// capacity that holds for expectations, not for every sample: replications
// share their random streams over loads and routers, so that capacities compare
// well, but each has the error of its sample, which the bracket does not show.
// The number of requests is that of the file, so that more load is a shorter
// run: a run too short for queues to build up is never saturated. Sessions whose
// turns wait for the answers before (pace: closed) slow their own arrivals and
// are never saturated either; ask for an objective, or let turns come at times of
// their own (pace: open).
//
// Each probe is a task of its own, and what follows from it is decided by its
// row alone. So a search goes on where it was interrupted, and its tables do
// not depend on the number of workers:
//
//	plan, err := capacity.NewPlan(points, capacity.Options{})
//	report, err := run.Execute(ctx, capacity.Job(plan, dir), run.Options{Dir: dir})
//	err = capacity.Print(os.Stdout, dir)
package capacity
