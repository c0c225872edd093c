// Switchyard simulates request routing in LLM serving and writes tables.
//
// An experiment file names workloads, clusters, routers and replications; the
// program makes every combination, simulates it, and leaves Parquet tables in
// a folder that DuckDB reads. Three stages, each from the tables of the one
// before:
//
//	generate   workloads and traces        -> workload, profile
//	simulate   a cell: one combination     -> cells, requests, replicas
//	queue      classic queueing models     -> balls, dispatch
//	choose     a model for each module     -> selections, rounds, pareto, worlds, pools, assignments
//	serve      those systems on GPUs       -> served, splits
//	aggregate  replications of a config    -> summary, comparisons, expectations
//
// Beside these, capacity finds the largest load that each router carries, by
// bisection over simulations (capacity, probes); calibrate fits a server to
// measured requests (calibration, coefficients), and timeline exports the steps
// of a replica; diagnose measures the diagnoser of live models.
//
// `reproduce` runs those that have expectations, built in or in a file, and
// prints the verdicts: what agrees with what was published.
//
// `run` is the stages in a row and prints the comparison. A run that was
// interrupted or killed goes on where it stopped when the same command is
// given again, and its tables are the same to the byte.
//
//	switchyard run quickstart
//	switchyard run my.yaml --seeds 1..30 --workers 8 --set routers.sticky.threshold=0.5
//	switchyard aggregate out/my --baseline cache-aware
//	switchyard query out/my "from comparisons"
//
// Results go to standard output, progress and messages to standard error.
//
// Exit codes: 0 done, whatever the verdicts of expectations, unless --strict
// makes one that differs a 1; 1 any other error; 2 the experiment file is missing or
// wrong; 3 some cells failed (the others are in the tables, the errors in
// table failures); 130 interrupted.
//
// This package is the program's words and nothing else: one command a file,
// each calling an entry point of package stages/...; which stage feeds which
// stands in run.go.
package main
