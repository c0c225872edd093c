package trace

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/workload"
)

// checkRead reads anything as one format and holds what comes out against the
// package's promises: every request passes the builder, in whatever cut; an
// error about a record carries its line.
func checkRead(t *testing.T, format string, data []byte) {
	t.Helper()
	tr, err := Read("f", bytes.NewReader(data), Source{Format: format})
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Text != "" && e.Line < 1 {
			t.Fatalf("error without a line: %v", err)
		}
		if !strings.HasPrefix(err.Error(), "f:") || strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("error without its file, or of several lines: %q", err)
		}
		return
	}
	if tr.Len() < 1 || tr.Records != tr.Len()+tr.NoPrompt+tr.NoOutput {
		t.Fatalf("%d records, %d without prompt, %d without output, %d requests", tr.Records, tr.NoPrompt, tr.NoOutput, tr.Len())
	}
	lines := len(data) // an upper bound that also holds for what gzip unpacks to
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) && format != "parquet" && tr.Records > lines {
		t.Fatalf("%d records from %d bytes", tr.Records, lines)
	}
	for _, o := range []Options{{}, {Limit: 2, Speed: 3}, {Window: []float64{0, 1}}, {Speed: 1e6}} {
		c, err := tr.Cut(o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		b := workload.Builder{BlockTokens: c.BlockTokens()}
		if err := c.Each(func(i int, r *workload.Request) error {
			if c.Line(i) < 1 {
				t.Fatalf("request %d stands on line %d", i, c.Line(i))
			}
			return b.Add(r)
		}); err != nil {
			t.Fatalf("%+v: the builder refuses: %v", o, err)
		}
		if w, err := b.Build(); err != nil || w.ArrivalUs[0] != 0 {
			t.Fatalf("%+v: %v, or the first arrival is not 0", o, err)
		}
	}
	checkOrder(t, format, data, tr)
}

// checkOrder compares with a plain sort of the raw records.
func checkOrder(t *testing.T, format string, data []byte, tr *Trace) {
	t.Helper()
	type record struct {
		us             int64
		prompt, output int32
	}
	if format == "parquet" || bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return
	}
	var raw []record
	first := int64(math.MaxInt64)
	f, _ := Find(format)
	if err := f.Read(bytes.NewReader(data), func(_ int, r *workload.Request) error {
		if r.Prompt > 0 && r.Output > 0 {
			raw = append(raw, record{r.ArrivalUs, r.Prompt, r.Output})
			first = min(first, r.ArrivalUs)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(raw, func(a, b record) int {
		switch {
		case a.us < b.us:
			return -1
		case a.us > b.us:
			return 1
		}
		return 0
	})
	all, _ := tr.Cut(Options{})
	for i, r := range collect(all) {
		if got := (record{r.ArrivalUs + first, r.Prompt, r.Output}); got != raw[i] {
			t.Fatalf("request %d is %+v, expected %+v", i, got, raw[i])
		}
	}
}

func seed(f *testing.F, samples ...string) {
	for _, s := range samples {
		f.Add([]byte(s))
		for _, d := range disguises(s) {
			f.Add([]byte(d))
		}
		f.Add([]byte(s[:len(s)/2]))
	}
	f.Add([]byte(""))
	f.Add([]byte("\x1f\x8b"))
}

func FuzzMooncake(f *testing.F) {
	seed(f, mooncakeSample)
	f.Add([]byte(`{"timestamp": 1e3, "input_length": 512.0, "output_length": 1, "hash_ids": [ -1 , 18446744073709551615]}`))
	f.Add([]byte(`{"timestamp": NaN, "input_length": null, "output_length": 1e999, "hash_ids": [[1]]}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "mooncake", data) })
}

func FuzzQwenBailian(f *testing.F) {
	seed(f, bailianSample)
	f.Add([]byte(`{"chat_id": 1, "parent_chat_id": 1, "timestamp": 0, "input_length": 17, "output_length": 1, "hash_ids": [1,1]}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "qwen-bailian", data) })
}

func FuzzAzure(f *testing.F) {
	seed(f, azure2023Sample, azure2024Sample, azure2025Sample)
	f.Add([]byte(azureHead + "2023-11-16T18:15:46Z,1,NaN\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "azure", data) })
}

func FuzzBurstGPT(f *testing.F) {
	seed(f, burst1Sample, burst2Sample)
	f.Add([]byte(burstHead + "1e9,2e3,+Inf\n-0,0x1p4,1_000\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "burstgpt", data) })
}

func FuzzRequests(f *testing.F) {
	seed(f, requestsSample)
	f.Add([]byte("arrival_us,prompt_tokens,output_tokens,prefix_group,prefix_tokens\n0,5,1,1e15,5\n0,9,1,1e15,3\n1,1,1,0,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "requests", data) })
}

func FuzzMeasured(f *testing.F) {
	seed(f, measuredSample)
	f.Add([]byte("arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n1e9,1,1,nan,1\n0,1,1,2,1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, "measured", data)
		m, err := ReadMeasured("f", bytes.NewReader(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without its file: %q", err)
			}
			return
		}
		if m.Records != len(m.Requests)+m.Failed || len(m.Latency) != len(m.Requests) || m.Requests[0].ArrivalUs != 0 {
			t.Fatalf("%d records, %d failed, %d requests, %d latencies", m.Records, m.Failed, len(m.Requests), len(m.Latency))
		}
		for i, l := range m.Latency {
			if l.TTFTUs < 0 || l.E2EUs < l.TTFTUs || l.Cached > m.Requests[i].Prompt || i > 0 && m.Requests[i].ArrivalUs < m.Requests[i-1].ArrivalUs {
				t.Fatalf("request %d is %+v, %+v", i, m.Requests[i], l)
			}
		}
	})
}

func FuzzParquet(f *testing.F) {
	f.Add([]byte(writeTable(f, chain...)))
	f.Add([]byte(writeTable(f, struct {
		Arrival float64 `parquet:"arrival_us"`
		Prompt  int64   `parquet:"prompt_tokens"`
		Output  int64   `parquet:"output_tokens"`
	}{0, 1, 1})))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			return // a small file can claim much, and the decoder believes it
		}
		checkRead(t, "parquet", data)
	})
}

// Detection looks at anything without harm.
func FuzzDetect(f *testing.F) {
	for _, s := range []string{mooncakeSample, bailianSample, azure2024Sample, burst2Sample, "PAR1"} {
		f.Add("a", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		if found, ok := Detect(name, head); ok != (found.Name != "") {
			t.Fatalf("%v with format %q", ok, found.Name)
		}
	})
}
