package aggregate

import (
	"fmt"
	"testing"
)

// BenchmarkAnalyse aggregates 10,000 cells: 1,000 configurations of ten
// replications. Ten times as many are a night's sweep.
func BenchmarkAnalyse(b *testing.B) {
	s := study{replications: 10, routers: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}}
	for i := range 100 {
		s.workloads = append(s.workloads, fmt.Sprintf("tool rate_rps=%d", i))
	}
	cells := s.cells(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analyse(cells, nil, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(cells))*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}
