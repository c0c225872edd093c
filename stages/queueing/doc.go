// Package queueing runs the classic models of load balancing, whose answers are
// known: balls thrown into bins, and dispatch to servers on live or stale
// information. It writes tables `balls` and `dispatch`, a row a cell. The models
// are those of package sim/queueing.
//
// # From a file to rows
//
//  1. NewPlan decodes sections `balls`, and `dispatch` x `policies`, and crosses
//     each of the two grids with the replications. Everything that is wrong is
//     found here, before a cell runs; a policy that cannot run on a system, such
//     as a central queue on stale information, is an error too.
//  2. Each cell gets its key: a hash over all that decides what happens in it,
//     and over nothing else. Requests are not kept, so that the warm-up is part
//     of it.
//  3. Jobs makes a task of each cell. A task runs one replication and writes one
//     row; a worker keeps one queueing.Sim from cell to cell.
//
// Policies of one system see the very same requests in a replication, since the
// streams of arrivals and sizes do not depend on the policy: aggregate compares
// them in pairs.
//
//	balls:
//	  - {name: lecture, bins: {sweep: [1000, 100000]}, choices: {sweep: [1, 2]}}
//	dispatch:
//	  - name: sixteen
//	    servers: 16                  # speeds, discipline, dispatchers
//	    load: 0.9
//	    requests: 50000
//	    arrivals: {process: gamma, burstiness: 2}          # default: poisson
//	    sizes: {law: lognormal, c2: 8}                     # default: exponential
//	    information: {model: periodic, age: {sweep: [1, 4]}, corrections: true}  # default: live
//	  - name: mine
//	    servers: 16
//	    arrivals: {trace: mine.jsonl, keep_rate: true}     # its times, in seconds
//	    sizes: {trace: mine.jsonl, of: output, mean: 0.5}  # in proportion to its tokens
//	policies: [random, jsq, {name: two, policy: jsq-d, choices: 2}]
//
// What can be named stands in `switchyard list policies`, `list processes` and
// `list sizes`.
//
// # Time and theory
//
// Times are in the unit of the sizes, whose mean is 1 by default: a mean
// response of 10 is ten mean services. Columns theory_* have the exact or
// mean-field value of the steady state where one is known; summary holds the
// simulated mean against it. The queue starts empty, and a short run at high
// load lies below the steady state.
//
// A configuration is saturated where more work arrives than the servers can do
// or, under a policy that does not look or draws a few servers, than some of
// them can; that is known before it runs. Where no condition is known, its
// backlog is measured and aggregate judges (column stability).
//
// # For the program
//
//	plan, err := queueing.NewPlan(e)
//	for _, job := range queueing.Jobs(plan, queueing.Options{}) {
//		report, err := run.Execute(ctx, job, run.Options{Dir: dir})
//	}
package queueing

import "switchyard/stages/table"

// Open is the value of column stability where no condition says whether a
// study has a steady state.
const Open = open

// Version is part of every cell's key. Raise it by one when the same
// parameters give other rows than before.
const Version = 4

// The tables.
var (
	Balls = table.New[BallsRow]("balls",
		"One row a cell of section balls, that is one throw of balls into bins in one replication: the maximum and the whole histogram.")
	Dispatch = table.New[DispatchRow]("dispatch",
		"One row a cell of dispatch x policies, that is one run of servers under a policy in one replication: keys, factors, times, and theory beside them.")
)

// Tables lists the tables that the stage writes.
func Tables() []table.Definition { return []table.Definition{Balls, Dispatch} }
