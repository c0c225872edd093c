// Package serve joins three choices in one experiment: a model for each module
// of a compound system, replicas for each model under a budget of GPUs, and a
// replica for each call. It writes table `served`, one row an assignment with
// its accuracy, its dollars and the latency of its questions, and table
// `splits`, one row a split of the GPUs that was tried.
//
// # From a file to rows
//
//  1. NewPlan decodes section `serving`, and crosses it with the systems in
//     worlds of package choose and with the replications.
//
//  2. A cell takes the pools of candidates of its world one after another. In
//     each it lists the assignments: all, where they are few; else those that are
//     best for their cost in training, those that the file's optimisers choose,
//     and single models; of live models, whose answers cost money, what the
//     optimisers choose alone. A rule of section `rules` stands in for a model at its
//     module, with the others as they are: a cascade asks several models for one
//     question, a learned router one of several.
//
//  3. The training questions become traffic (package sim/serving), in an order
//     and at times drawn for the replication, the same for all assignments. Each
//     assignment is simulated under the splits of the GPUs over its models, and
//     keeps the split with the lowest objective.
//
//  4. The assignment and its split then serve the test questions, at times of
//     their own. What a row says of latency is of these, as what it says of
//     accuracy_test; what is chosen is chosen by the training questions.
//
// The section serving stands beside systems, worlds and optimisers:
//
//	serving:
//	  - name: eight
//	    gpu: h100
//	    gpus: 8
//	    models:
//	      A: {model: llama-3.1-70b, tensor_parallel: 4}
//	      B: {model: llama-3.1-8b}
//	    arrivals: {process: poisson, rate_rps: 2}
//	    slo: {latency_ms: 10000, share: 0.99}
//	    rules:
//	      solve: {rule: cascade, models: [B, A]}
//
// # What is compared
//
// In each pool, by the training questions: the best single model, the assignment
// with the highest accuracy, and the one with the highest accuracy of those that
// meet the objective (slo) within the GPUs. Package aggregate averages the
// three over pools and compares them in pairs.
//
// # For the program
//
//	plan, err := serve.NewPlan(e, choices)
//	for _, job := range serve.Jobs(plan, serve.Options{}) {
//		report, err := run.Execute(ctx, job, run.Options{Dir: dir})
//	}
package serve

import "switchyard/stages/table"

// Version is part of every cell's key. Raise it by one when the same
// parameters give other rows than before.
const Version = 1

// The tables.
var (
	Served = table.New[Row]("served",
		"One row an assignment that was served: its accuracy, its dollars and the latency of its questions under the best split of the GPUs.")
	Splits = table.New[SplitRow]("splits",
		"One row a split of the GPUs that was tried for an assignment, on the training questions.")
)

// Tables lists the tables that the stage writes.
func Tables() []table.Definition { return []table.Definition{Served, Splits} }
