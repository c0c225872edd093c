// Package queueing runs the classic models of load balancing: balls thrown
// into bins, and dispatch to servers, on live or stale information. It writes
// tables `balls` and `dispatch`, a row a cell.
package queueing

import "switchyard/stages/table"

// Version is part of every cell's key. Raise it by one when the same
// parameters give other rows than before.
const Version = 1

// The tables.
var (
	Balls = table.New[BallsRow]("balls",
		"One row a cell of section balls, that is one throw of balls into bins in one replication: the maximum and the whole histogram.")
	Dispatch = table.New[DispatchRow]("dispatch",
		"One row a cell of dispatch x policies, that is one run of servers under a policy in one replication: keys, factors, times, and theory beside them.")
)

// Tables lists the tables that the stage writes.
func Tables() []table.Definition { return []table.Definition{Balls, Dispatch} }
