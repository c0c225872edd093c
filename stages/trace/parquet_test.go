package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"switchyard/sim/workload"
)

// workloadRow has all columns of table workload.
type workloadRow struct {
	Request  int32    `parquet:"request"`
	Arrival  *int64   `parquet:"arrival_us"`
	After    *int32   `parquet:"after"`
	Think    int64    `parquet:"think_us"`
	Session  *int64   `parquet:"session"`
	Turn     int32    `parquet:"turn"`
	Tags     []string `parquet:"tags,list"`
	Prompt   int32    `parquet:"prompt_tokens"`
	Output   int32    `parquet:"output_tokens"`
	IDs      []int64  `parquet:"segment_ids,list"`
	Tokens   []int32  `parquet:"segment_tokens,list"`
	Answer   *int64   `parquet:"output_segment"`
	Unneeded string   `parquet:"workload"`
}

func writeTable[T any](tb testing.TB, rows ...T) string {
	tb.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.MaxRowsPerRowGroup(2))
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func at[T any](v T) *T { return &v }

// chain is a chat of three turns whose later ones wait, and a request between.
var chain = []workloadRow{
	{Request: 0, Arrival: at[int64](5000), Session: at[int64](7), Prompt: 30, Output: 8, IDs: []int64{1, 2}, Tokens: []int32{10, 20}, Answer: at[int64](3), Tags: []string{"chat", "de"}},
	{Request: 1, Arrival: at[int64](6000), Prompt: 15, Output: 1, IDs: []int64{1}, Tokens: []int32{10}},
	{Request: 2, After: at[int32](0), Think: 400, Session: at[int64](7), Turn: 1, Prompt: 43, Output: 2, IDs: []int64{1, 2, 3, 4}, Tokens: []int32{10, 20, 8, 5}, Tags: []string{"chat", "de"}},
	{Request: 3, After: at[int32](2), Think: 500, Session: at[int64](7), Turn: 2, Prompt: 50, Output: 2, IDs: []int64{1, 2, 3}, Tokens: []int32{10, 20, 8}},
}

func chainRequests() []workload.Request {
	chat := func(r workload.Request, after int32, thinkUs int64, turn int32) workload.Request {
		r.After, r.ThinkUs, r.Session, r.Turn = after, thinkUs, 7, turn
		if after >= 0 {
			r.ArrivalUs = workload.None
		}
		return r
	}
	first := chat(req(0, 30, 8, seg{ID: 1, Tokens: 10}, seg{ID: 2, Tokens: 20}), workload.None, 0, 0)
	first.OutputID, first.Tags = 3, []string{"chat", "de"}
	second := chat(req(0, 43, 2, seg{ID: 1, Tokens: 10}, seg{ID: 2, Tokens: 20}, seg{ID: 3, Tokens: 8}, seg{ID: 4, Tokens: 5}), 0, 400, 1)
	second.Tags = []string{"chat", "de"}
	return []workload.Request{
		first, second,
		chat(req(0, 50, 2, seg{ID: 1, Tokens: 10}, seg{ID: 2, Tokens: 20}, seg{ID: 3, Tokens: 8}), 1, 500, 2),
		req(1000, 15, 1, seg{ID: 1, Tokens: 10}),
	}
}

func TestParquet(t *testing.T) {
	want := chainRequests()
	shuffled := []workloadRow{chain[3], chain[1], chain[0], chain[2]}
	for what, rows := range map[string][]workloadRow{"in order": chain, "shuffled": shuffled} {
		_, got, err := read("f", writeTable(t, rows...), Source{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v, expected\n%+v", what, err, got, want)
		}
	}
	c, err := Load("f", strings.NewReader(writeTable(t, chain...)), Source{}, Options{Limit: 3, Speed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(c); len(got) != 3 || got[1].ThinkUs != 200 || got[2].ThinkUs != 250 || got[2].After != 1 {
		t.Errorf("limit and speed give %+v", got)
	}
	if w := build(t, c); w.Ceiling[1] != 38 {
		t.Errorf("the second turn finds %d tokens, expected prompt and answer, 38", w.Ceiling[1])
	}
}

// A window keeps chains whole: who waits for a request goes with it.
func TestParquetWindow(t *testing.T) {
	tr, err := Read("f", strings.NewReader(writeTable(t, chain...)), Source{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := tr.Cut(Options{Window: []float64{0, 0.001}}); err != nil || c.Len() != 3 {
		t.Errorf("the first millisecond: %v, expected the chat's 3 requests", err)
	}
	rows := append([]workloadRow{{Request: -1, Arrival: at[int64](1000), Prompt: 1, Output: 1}}, chain...)
	if tr, err = Read("f", strings.NewReader(writeTable(t, rows...)), Source{}); err != nil {
		t.Fatal(err)
	}
	c, err := tr.Cut(Options{Window: []float64{0.003, 0}})
	if err != nil {
		t.Fatal(err)
	}
	want := chainRequests()
	want[0].ArrivalUs, want[3].ArrivalUs = 1000, 2000
	if got := collect(c); !reflect.DeepEqual(got, want) {
		t.Errorf("from the second request on\n%+v, expected\n%+v", got, want)
	}
	build(t, c)
}

// Few columns of other types, as a query yields them, from all kinds of sources.
func TestParquetSources(t *testing.T) {
	type row struct {
		Arrival int64    `parquet:"arrival_us"`
		Prompt  float64  `parquet:"prompt_tokens"`
		Output  *uint16  `parquet:"output_tokens,optional"`
		Session *uint32  `parquet:"session,optional"`
		IDs     []uint64 `parquet:"segment_ids,list"`
	}
	data := writeTable(t,
		row{1700000000000000, 33, at[uint16](3), at[uint32](1<<32 - 1), []uint64{1<<64 - 2, 1, 2}},
		row{1700000000000009, 16, at[uint16](1), nil, []uint64{1<<64 - 2}},
		row{1700000000000005, 16, at[uint16](1), nil, nil})
	want := []workload.Request{
		session(req(0, 33, 3, seg{ID: -2, Tokens: 16}, seg{ID: 1, Tokens: 16}, seg{ID: partial(2, 1), Tokens: 1}), 1<<32-1, 0),
		req(5, 16, 1), req(9, 16, 1, seg{ID: -2, Tokens: 16}),
	}
	file := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	pipe, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { io.WriteString(in, data); in.Close() }()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, data)
	w.Close()
	for what, r := range map[string]io.Reader{"file": opened, "pipe": pipe, "gzip": &z, "memory": bytes.NewBufferString(data), "seekable memory": strings.NewReader(data)} {
		c, err := Load("f", r, Source{BlockTokens: 16}, Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if got := collect(c); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, expected\n%+v", what, got, want)
		}
	}
}

func TestParquetErrors(t *testing.T) {
	change := func(f func(*workloadRow)) string {
		rows := append([]workloadRow(nil), chain...)
		f(&rows[2])
		return writeTable(t, rows...)
	}
	type plain struct {
		Arrival int64 `parquet:"arrival_us"`
		Prompt  int64 `parquet:"prompt_tokens"`
		Output  int64 `parquet:"output_tokens"`
	}
	type ids struct {
		plain
		IDs []int64 `parquet:"segment_ids,list"`
	}
	whole := writeTable(t, chain...)
	for _, x := range []struct{ name, data, want string }{
		{"prompt", change(func(r *workloadRow) { r.Prompt = 0; r.IDs, r.Tokens = nil, nil }), "f: row 3: prompt_tokens is 0, expected at least 1: leave such rows out (where prompt_tokens > 0)"},
		{"output", change(func(r *workloadRow) { r.Output = 0 }), "f: row 3: output_tokens is 0, expected at least 1: leave such rows out (where output_tokens > 0)"},
		{"negative", change(func(r *workloadRow) { r.Output = -1 }), "f: row 3: output_tokens is -1, expected 0 to 2147483647"},
		{"arrival", change(func(r *workloadRow) { r.After = nil }), "f: row 3: arrival_us is NULL, expected a time where after is NULL"},
		{"arrival before", change(func(r *workloadRow) { r.After, r.Arrival = nil, at[int64](-1) }), "f: row 3: arrival_us is -1, expected 0 to 9007199254740991"},
		{"after itself", change(func(r *workloadRow) { r.After = at[int32](2) }), "f: row 3: after is 2, expected the number of an earlier request"},
		{"after later", change(func(r *workloadRow) { r.After = at[int32](3) }), "f: row 3: after is 3, expected the number of an earlier request"},
		{"after none", change(func(r *workloadRow) { r.After = at[int32](77) }), "f: row 3: after is 77, expected the number of an earlier request"},
		{"request twice", change(func(r *workloadRow) { r.Request = 1 }), "f: row 3: request is 1, as in another row, expected a number that no other row has: of a table with several"},
		{"turn", change(func(r *workloadRow) { r.Turn = -1 }), "f: row 3: turn is -1, expected 0 to 2147483647"},
		{"lists", change(func(r *workloadRow) { r.Tokens = r.Tokens[:2] }), "f: row 3: segment_tokens is a list of 2, expected the 4 of segment_ids"},
		{"empty segment", change(func(r *workloadRow) { r.Tokens = []int32{10, 20, 8, 0} }), "f: row 3: segment_tokens is a list with 0, expected 1 to prompt_tokens, 43"},
		{"long", change(func(r *workloadRow) { r.Tokens = []int32{10, 20, 8, 6} }), "f: row 3: segments hold 44 tokens, expected at most prompt_tokens, 43"},
		{"contradiction", change(func(r *workloadRow) { r.Tokens = []int32{10, 20, 7, 5} }), "f: row 3: segment 3 has 7 tokens, expected the 8 that it has in an earlier request"},
		{"private rest", change(func(r *workloadRow) { r.Prompt, r.Answer = 44, at[int64](9) }), "f: row 3: output_segment is set while the prompt has 1 private tokens"},
		{"cut off", whole[:len(whole)-20], "f: file is not readable as Parquet ("},
		{"no prompts", writeTable(t, struct {
			Arrival int64 `parquet:"arrival_us"`
			Output  int64 `parquet:"output_tokens"`
		}{}), "f: prompt_tokens is missing, expected a column of that name; the file has arrival_us, output_tokens"},
		{"no arrivals", writeTable(t, struct {
			Prompt int64 `parquet:"prompt_tokens"`
			Output int64 `parquet:"output_tokens"`
		}{}), "f: arrival_us is missing, expected a column of that name; the file has prompt_tokens, output_tokens"},
		{"timestamps", writeTable(t, struct {
			Arrival int64 `parquet:"arrival_us,timestamp(microsecond)"`
			Prompt  int64 `parquet:"prompt_tokens"`
			Output  int64 `parquet:"output_tokens"`
		}{}), "f: arrival_us is of type TIMESTAMP(isAdjustedToUTC=true,unit=MICROS), expected whole numbers of microseconds: write epoch_us(...)"},
		{"text", writeTable(t, struct {
			plain
			Session string `parquet:"session"`
		}{}), "f: session is of type STRING, expected whole numbers: write dense_rank() over (order by session)"},
		{"money", writeTable(t, struct {
			plain
			Turn int64 `parquet:"turn,decimal(2:18)"`
		}{}), "f: turn is of type DECIMAL(18,2), expected whole numbers"},
		{"half a token", writeTable(t, struct {
			Arrival int64   `parquet:"arrival_us"`
			Prompt  float32 `parquet:"prompt_tokens"`
			Output  int64   `parquet:"output_tokens"`
		}{1, 1.5, 1}), "f: row 1: prompt_tokens is 1.5, expected a whole number"},
		{"NULL prompt", writeTable(t, struct {
			Arrival int64  `parquet:"arrival_us"`
			Prompt  *int64 `parquet:"prompt_tokens"`
			Output  int64  `parquet:"output_tokens"`
		}{1, nil, 1}), "f: row 1: prompt_tokens is NULL, expected a number"},
		{"a list", writeTable(t, struct {
			plain
			Turn []int64 `parquet:"turn,list"`
		}{}), "f: turn is of type INT(64,true)[], expected a plain column"},
		{"no list", writeTable(t, struct {
			plain
			IDs int64 `parquet:"segment_ids"`
		}{}), "f: segment_ids is of type INT(64,true), expected a list"},
		{"a structure", writeTable(t, struct {
			plain
			Turn struct{ A, B int64 } `parquet:"turn"`
		}{}), "f: turn is of type INT(64,true), expected a plain column"},
		{"numbers as tags", writeTable(t, struct {
			plain
			Tags []int64 `parquet:"tags,list"`
		}{}), "f: tags is of type INT(64,true)[], expected VARCHAR[]"},
		{"lengths", writeTable(t, ids{plain{1, 1, 1}, []int64{1}}), "f: segment_tokens is missing, expected that column beside segment_ids, or the field block_tokens"},
		{"NULL in a list", writeTable(t, struct {
			plain
			IDs    []*int64 `parquet:"segment_ids,list"`
			Tokens []int64  `parquet:"segment_tokens,list"`
		}{plain{1, 1, 1}, []*int64{nil}, []int64{1}}), "f: row 1: segment_ids is a list with NULL, expected whole numbers"},
		{"no rows", writeTable[plain](t), "f: trace has no records, expected at least one request"},
	} {
		_, err := Read("f", strings.NewReader(x.data), Source{})
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s: error\n%v, expected\n%s", x.name, err, x.want)
		}
	}
}
