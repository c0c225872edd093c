// Package choose runs the choice of a model for each module of a compound
// system, on pools of models that are drawn, recorded or live. It writes tables
// `selections`, `rounds` and `pareto`, a row a run of an optimiser, a round and a
// point of quality and cost, and of the ground they stand on, `worlds`, `pools`
// and `assignments`. The systems are those of package sim/compound, the
// optimisers those of sim/selection and, for rules that choose for each question
// anew, of sim/cascade.
//
// # From a file to rows
//
//  1. NewPlan decodes sections `systems` x `worlds` x `optimisers` and crosses
//     the grid with the replications. Everything that is wrong is found here,
//     before a cell runs; an optimiser that cannot work in a world, such as one
//     that asks which module failed in a table that does not say, is an error too.
//  2. A cell is a configuration in one replication: a system, a world and an
//     optimiser. It has the world's pools of candidates, each an independent
//     sample of models and questions, and runs the optimiser from each of the
//     world's starts in each of them. A key hashes all that decides what happens
//     in a cell, and nothing else.
//  3. Jobs makes two jobs: one whose tasks are the settings (system x world x
//     replication), for what is known of them without an optimiser, and one whose
//     tasks are the cells.
//
// Pools are drawn anew in each replication: pool 1 of replication 2 has other
// models than pool 1 of replication 1. Where the questions are recorded, a
// replication draws which of them are to choose on.
//
// Optimisers of one setting see the very same pools, questions and starts in a
// replication: aggregate compares them in pairs, over pools.
//
//	systems:
//	  - locate-solve
//	  - {name: debate, system: debate, generators: 3, debaters: 3}
//	worlds:
//	  - {name: toy, world: toy, pools: 10, starts: 5}
//	optimisers:
//	  - single
//	  - llmselector
//	  - {name: steepest, optimiser: greedy, ascent: steepest}
//	  - exhaustive
//
// What can be named stands in `switchyard list systems`, `list worlds` and `list
// optimisers`.
//
// # Train and test
//
// Optimisers see the training questions alone; accuracy_test is the mean score
// of what they chose on other questions, drawn from the same law. Where a world
// has no others, such as a published table of accuracies, both are the same and
// the row says so. The best single model and the optimum beside each run are
// chosen on the training questions too.
//
// # For the program
//
//	plan, err := choose.NewPlan(e)
//	for _, job := range choose.Jobs(plan, choose.Options{}) {
//		report, err := run.Execute(ctx, job, run.Options{Dir: dir})
//	}
package choose

import "switchyard/stages/table"

// Version is part of every cell's key. Raise it by one when the same
// parameters give other rows than before.
const Version = 1

// The tables.
var (
	Selections = table.New[SelectionRow]("selections",
		"One row a run of an optimiser on one pool from one start: what it chose, how good that is, and what the choice took.")
	Rounds = table.New[RoundRow]("rounds",
		"One row a round of a run: the nominated module, the votes on its candidates, and who won.")
	Pareto = table.New[ParetoRow]("pareto",
		"One row a point of quality and cost that an optimiser, a cascade or a learned router offers.")
	Worlds = table.New[WorldRow]("worlds",
		"One row a pool in one system: best single model, optimum, oracle, and how often the assumptions of LLMSelector are broken.")
	Pools = table.New[PoolRow]("pools",
		"One row a model and skill of a pool: what the model can do, and its price.")
	Assignments = table.New[AssignmentRow]("assignments",
		"One row an assignment of a space that is kept whole: its accuracies and its cost.")
)

// Tables lists the tables that the stage writes.
func Tables() []table.Definition {
	return []table.Definition{Selections, Rounds, Pareto, Worlds, Pools, Assignments}
}
