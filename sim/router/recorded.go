package router

import (
	"fmt"

	"switchyard/sim/workload"
)

var recordedPolicy = Policy{
	Name:     "recorded",
	Summary:  "the replica that served the request when it was recorded",
	Needs:    "a trace that says of each request which replica served it, unless there is one replica",
	TieBreak: "none",
	Source:   "replay, to compare a whole cluster with what was measured",
	New:      func() Params { return new(Recorded) },
}

// Recorded sends each request where it went when it was recorded. Over one
// replica nothing need be recorded.
type Recorded struct{}

// Build implements Params.
func (*Recorded) Build(Env) Router { return recorded{} }

// Check implements Checked.
func (*Recorded) Check(w *workload.Workload, replicas int) error {
	if w.Served == nil && replicas == 1 {
		return nil
	}
	for id := range w.Len() {
		switch {
		case w.Served == nil || w.Served[id] == 0 && replicas > 1:
			return fmt.Errorf("router recorded: no replica was recorded for request %d, expected a trace with a column replica", id)
		case int(w.Served[id]) > replicas:
			return fmt.Errorf("router recorded: request %d was recorded on replica %d, expected one of 0 to %d: raise replicas", id, w.Served[id]-1, replicas-1)
		}
	}
	return nil
}

type recorded struct{}

func (recorded) Route(id int32, v *View) int {
	to := 0
	if v.Work.Served != nil {
		to = max(0, int(v.Work.Served[id])-1)
	}
	v.candidates("recorded", int32(to))
	return to
}
