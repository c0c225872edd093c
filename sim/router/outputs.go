package router

import (
	"switchyard/sim/engine"
	"switchyard/sim/workload"
)

// Outputs is what routers know of the lengths of outputs.
type Outputs struct {
	work   *workload.Workload
	know   engine.Knowledge
	random uint64
}

// NewOutputs returns what is known of w's outputs; predictions are a function
// of random and the request.
func NewOutputs(w *workload.Workload, know engine.Knowledge, random uint64) *Outputs {
	return &Outputs{w, know, random}
}

// Of returns the output tokens that are expected of a request: its length, its
// maximum, a prediction, or 0 where nothing is known.
func (o *Outputs) Of(id int32) int32 {
	switch {
	case o.know.Output == "exact" || o.know.Output == "":
		return o.work.Output[id]
	case o.know.Output == "nothing":
		return 0
	}
	return int32(o.know.Expect(id, o.work.Output[id], o.random))
}
