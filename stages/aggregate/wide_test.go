package aggregate

import (
	"runtime"
	"testing"

	"switchyard/stages/queueing"
	"switchyard/stages/table"
)

// TestWideSystems: what is kept of a cell does not grow with its servers, whose
// lists the rows have.
func TestWideSystems(t *testing.T) {
	const servers, cells = 5_000, 100
	all := make([]queueing.DispatchRow, cells)
	copy(all, dispatchRows([]string{"wide"}, map[string]float64{"jsq": 1.6}, cells))
	for i := range all {
		all[i].ServerCount, all[i].ServerUsage = make([]int64, servers), make([]float64, servers)
	}
	dir := t.TempDir()
	if err := queueing.Dispatch.Write(dir, all, table.Provenance{Experiment: "wide"}); err != nil {
		t.Fatal(err)
	}
	before := kept()
	var in rows
	if err := in.read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if took, lists := kept()-before, int64(servers*cells*16); took > lists/4 {
		t.Errorf("%d bytes are kept, the lists have %d", took, lists)
	}
	if len(in.dispatched) != cells || *in.dispatched[7].ResponseMean != *all[7].ResponseMean {
		t.Errorf("%d rows, want %d", len(in.dispatched), cells)
	}
	runtime.KeepAlive(all)
}

func kept() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
