package run

import (
	"testing"
	"time"
)

// BenchmarkTinyTasks measures what the executor adds to a task that does
// nothing but write three rows: tasks a second, commit and compaction included.
func BenchmarkTinyTasks(b *testing.B) {
	s := synthetic{numbers: upTo(b.N), groups: 1 + b.N/100}
	job := s.job()
	dir := b.TempDir()
	b.ReportAllocs()
	b.ResetTimer()
	r, err := Execute(b.Context(), job, Options{Dir: dir, Workers: 2, FlushEvery: time.Second})
	if err != nil || r.Done != b.N {
		b.Fatal(r, err)
	}
	b.ReportMetric(float64(b.N)/(r.Elapsed-r.Compaction).Seconds(), "tasks/s")
	b.ReportMetric(float64(b.N)/r.Compaction.Seconds(), "compacted/s")
}
