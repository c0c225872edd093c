package table

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// wide is a table of 20 columns as `requests` and `cells` have them: five
// texts of few values, six wide and four short integers, three floats, a flag
// and a float that may be missing.
type wide struct {
	Cell       int32    `parquet:"cell,dict" doc:"x"`
	Request    int64    `parquet:"request,delta" doc:"x"`
	Workload   string   `parquet:"workload,dict" doc:"x"`
	Cluster    string   `parquet:"cluster,dict" doc:"x"`
	Router     string   `parquet:"router,dict" doc:"x"`
	Status     string   `parquet:"status,dict" doc:"x"`
	Tag        string   `parquet:"tag,dict" doc:"x"`
	ArrivalUs  int64    `parquet:"arrival_us,delta" doc:"x"`
	StartUs    int64    `parquet:"start_us,delta" doc:"x"`
	FirstUs    int64    `parquet:"first_us,delta" doc:"x"`
	FinishUs   int64    `parquet:"finish_us,delta" doc:"x"`
	Session    int64    `parquet:"session,delta" doc:"x"`
	Replica    int32    `parquet:"replica,delta" doc:"x"`
	Prompt     int32    `parquet:"prompt_tokens,delta" doc:"x"`
	Cached     int32    `parquet:"cached_tokens,delta" doc:"x"`
	Ttft       float64  `parquet:"ttft_us" doc:"x"`
	Latency    float64  `parquet:"e2e_us" doc:"x"`
	Share      float64  `parquet:"share" doc:"x"`
	Preempted  bool     `parquet:"preempted" doc:"x"`
	TimePerOut *float64 `parquet:"tpot_us" doc:"x"`
}

func (w *wide) Place(index int32) { w.Cell = index }

var wides = New[wide]("wides", "Rows of twenty columns.")

func makeWide(seed uint64, n int) []wide {
	r := rand.New(rand.NewPCG(seed, 0))
	rows := make([]wide, n)
	at := int64(0)
	for i := range rows {
		at += r.Int64N(1e5)
		wait, run := r.Int64N(1e6), r.Int64N(1e7)
		rows[i] = wide{
			Request: int64(i), Workload: "tool", Cluster: "a6000x4", Router: fmt.Sprint("router", seed%9), Status: "finished",
			Tag: fmt.Sprint("group-", r.IntN(50)), ArrivalUs: at, StartUs: at + wait, FirstUs: at + wait + run/10, FinishUs: at + wait + run,
			Session: int64(i / 4), Replica: int32(r.IntN(8)), Prompt: int32(r.IntN(4000)), Cached: int32(r.IntN(2000)),
			Ttft: float64(wait + run/10), Latency: float64(wait + run), Share: r.Float64(), Preempted: r.IntN(50) == 0,
		}
		if i%7 != 0 {
			rows[i].TimePerOut = new(float64(run) / float64(1+r.IntN(300)))
		}
	}
	return rows
}

// rate reports rows a second of wall time, and a second of this process's CPU
// time since start, which a busy machine disturbs less; what the benchmark
// does between StopTimer and StartTimer is in the latter.
func rate(b *testing.B, rows int, start time.Duration) {
	n := float64(rows) * float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(n/(cpuTime(b)-start).Seconds(), "rows/cpu-s")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkWrite(b *testing.B) {
	rows := makeWide(1, rowGroupRows)
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		e := newEncoder(wides, io.Discard, filePageBytes, testProvenance)
		for i := 0; i < len(rows); i += batchRows {
			if err := e.write(rows[i : i+batchRows]); err != nil {
				b.Fatal(err)
			}
		}
		if err := e.writer.Close(); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, len(rows), start)
}

func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	if err := wides.Write(dir, makeWide(1, rowGroupRows), testProvenance); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		if err := wides.Scan(dir, func([]wide) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, rowGroupRows, start)
}

func BenchmarkOpenParts(b *testing.B) {
	dir := b.TempDir()
	_, total := benchParts(b, dir, 40, 4000)
	b.SetBytes(folderBytes(b, dir))
	start := cpuTime(b)
	for b.Loop() {
		if _, err := OpenParts(dir, wides); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, total, start)
}

// BenchmarkCompact merges parts whose tasks are in another order than the
// finished table's: few large tasks, and many of one row.
func BenchmarkCompact(b *testing.B) {
	for _, shape := range []struct{ tasks, rows int }{{100, 4000}, {20_000, 1}} {
		b.Run(fmt.Sprintf("tasks=%d,rows=%d", shape.tasks, shape.rows), func(b *testing.B) {
			base := b.TempDir()
			place, total := benchParts(b, base, shape.tasks, shape.rows)
			start := cpuTime(b)
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := wides.Compact(dir, place, testProvenance); err != nil {
					b.Fatal(err)
				}
			}
			rate(b, total, start)
		})
	}
}

// benchParts writes eight parts with the tasks in a shuffled order.
func benchParts(b *testing.B, dir string, tasks, rows int) (place map[string]int32, total int) {
	order := rand.New(rand.NewPCG(1, 1)).Perm(tasks)
	place = map[string]int32{}
	for part := range 8 {
		w := wides.NewPart(dir, part%2, part, testProvenance)
		for _, i := range order[part*tasks/8 : (part+1)*tasks/8] {
			key := fmt.Sprintf("%064d", i)
			place[key] = int32(i)
			if err := w.Append(key, wides.Rows(makeWide(uint64(i), rows))); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	return place, tasks * rows
}

func folderBytes(b *testing.B, dir string) (n int64) {
	paths, err := list(filepath.Join(dir, partsFolder), "*")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
