package router

import (
	"strings"
	"testing"

	"switchyard/sim/workload"
)

func TestRecorded(t *testing.T) {
	w := &workload.Workload{Prompt: []int32{1, 1, 1, 1, 1, 1}, Served: []int32{3, 1, 2, 3, 3, 1}}
	p := new(Recorded)
	if err := p.Check(w, 3); err != nil {
		t.Fatal(err)
	}
	r := p.Build(Env{Replicas: 3})
	// Whatever the loads, and though replica 2 takes no requests here.
	for id, want := range []int{2, 0, 1, 2, 2, 0} {
		if got := r.Route(int32(id), &View{Up: []int32{0, 1}, Requests: []int32{7, 0, 9}, Work: w}); got != want {
			t.Errorf("request %d goes to %d, want %d", id, got, want)
		}
	}
	if err := p.Check(w, 2); err == nil || !strings.Contains(err.Error(), "request 0 was recorded on replica 2, expected one of 0 to 1") {
		t.Errorf("over two replicas: %v", err)
	}
	w.Served[1] = 0
	if err := p.Check(w, 3); err == nil || !strings.Contains(err.Error(), "no replica was recorded for request 1") {
		t.Errorf("without a replica: %v", err)
	}
	w.Served = nil
	if p.Check(w, 2) == nil {
		t.Error("a workload without recorded replicas is routed over two")
	}
	for _, served := range [][]int32{nil, {1, 0, 1, 1, 0, 1}} { // one replica: where else
		w.Served = served
		if err := p.Check(w, 1); err != nil {
			t.Error(err)
		}
		if got := r.Route(1, &View{Up: []int32{0, 1}, Work: w}); got != 0 {
			t.Errorf("over one replica request 1 goes to %d", got)
		}
	}
}
