package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"switchyard/sim/workload"
)

// Samples in the publishers' layouts, the numbers made up.
const (
	mooncakeSample = `{"timestamp": 27482, "input_length": 1100, "output_length": 52, "hash_ids": [46, 47, 2353]}
{"timestamp": 30535, "input_length": 1024, "output_length": 26, "hash_ids": [46, 47]}
{"timestamp": 30535, "input_length": 600, "output_length": 0, "hash_ids": [46, 50]}
{"timestamp": 33000, "input_length": 1100, "output_length": 7, "hash_ids": [46, 47, 2353]}
`
	bailianSample = `{"chat_id": 55, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 40, "output_length": 132, "type": "text", "turn": 1, "hash_ids": [1089, 1090, 1091]}
{"chat_id": 159, "parent_chat_id": 55, "timestamp": 90.5, "input_length": 64, "output_length": 12, "type": "text", "turn": 2, "hash_ids": [1089, 1090, 7, 8]}
{"chat_id": 160, "parent_chat_id": 9, "timestamp": 91, "input_length": 16, "output_length": 1, "type": "search", "turn": 4, "hash_ids": [3]}
{"chat_id": 161, "parent_chat_id": 160, "timestamp": 92, "input_length": 16, "output_length": 1, "type": "search", "turn": 5, "hash_ids": [3]}
`
	azure2023Sample = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:50.9951699,1,0
`
	azure2024Sample = `TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00+00:00,2162,5
2024-05-10 00:00:00.017335+00:00,2399,6
2024-05-10 02:00:01.5+02:00,76,15
`
	azure2025Sample = `TIMESTAMP,NumImages,ContextTokens,GeneratedTokens
2024-10-15 12:00:00.000000,1,1500,30
2024-10-15 12:00:02.000000,0,20,8
`
	burst1Sample = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,GPT-4,1087,0,1087,API log
118,GPT-4,417,276,693,Conversation log
1106,ChatGPT,0,0,0,Conversation log
`
	burst2Sample = `Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
19440110.0,1722ac82-0a46,43,GPT-4,906,446,1352,Conversation log
19440161.5,,2,ChatGPT,36,29,65,API log
19440192.0,1722ac82-0a46,8,GPT-4,1779,123,1902,Conversation log
`
	requestsSample = `arrival_us,prefix_group,prefix_tokens,prompt_tokens,output_tokens,replica
1000,7,100,150,5,1
1500,,,40,6,
2000,7,60,60,7,0
2500.0,-1,9,50,8,0
3000,3,60,90,9,1
`
	measuredSample = `request,arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,replica,cached_tokens
0,0.5,1010,128,0.072784,1.652685,1,16
1,0.780739,987,128,0.059438,1.615632,0,
2,0.880036,996,0,,,1,
`
)

// req is a request without session, predecessor and answer.
func req(arrivalUs int64, prompt, output int32, segments ...workload.Segment) workload.Request {
	return workload.Request{ArrivalUs: arrivalUs, Prompt: prompt, Output: output, Segments: segments,
		After: workload.None, Session: workload.None, OutputID: workload.None}
}

func session(r workload.Request, session int64, turn int32, tags ...string) workload.Request {
	r.Session, r.Turn, r.Tags = session, turn, tags
	return r
}

func served(r workload.Request, replica int32) workload.Request {
	r.Served = replica
	return r
}

type seg = workload.Segment

func collect(c *Requests) []workload.Request {
	var all []workload.Request
	c.Each(func(_ int, r *workload.Request) error {
		x := *r
		x.Segments = append([]seg(nil), r.Segments...)
		all = append(all, x)
		return nil
	})
	return all
}

func read(file, text string, s Source) (*Trace, []workload.Request, error) {
	t, err := Read(file, strings.NewReader(text), s)
	if err != nil {
		return nil, nil, err
	}
	c, err := t.Cut(Options{})
	if err != nil {
		return nil, nil, err
	}
	return t, collect(c), nil
}

func TestFormats(t *testing.T) {
	for _, x := range []struct {
		name, format, text string
		noPrompt, noOutput int
		want               []workload.Request
	}{
		{"mooncake", "mooncake", mooncakeSample, 0, 1, []workload.Request{
			req(0, 1100, 52, seg{ID: 46, Tokens: 512}, seg{ID: 47, Tokens: 512}, seg{ID: partial(2353, 76), Tokens: 76}),
			req(3053000, 1024, 26, seg{ID: 46, Tokens: 512}, seg{ID: 47, Tokens: 512}),
			req(5518000, 1100, 7, seg{ID: 46, Tokens: 512}, seg{ID: 47, Tokens: 512}, seg{ID: partial(2353, 76), Tokens: 76}),
		}},
		{"qwen-bailian", "qwen-bailian", bailianSample, 0, 0, []workload.Request{
			session(req(0, 40, 132, seg{ID: 1089, Tokens: 16}, seg{ID: 1090, Tokens: 16}, seg{ID: partial(1091, 8), Tokens: 8}), 55, 0, "text"),
			session(req(29386000, 64, 12, seg{ID: 1089, Tokens: 16}, seg{ID: 1090, Tokens: 16}, seg{ID: 7, Tokens: 16}, seg{ID: 8, Tokens: 16}), 55, 1, "text"),
			session(req(29886000, 16, 1, seg{ID: 3, Tokens: 16}), 9, 3, "search"),
			session(req(30886000, 16, 1, seg{ID: 3, Tokens: 16}), 9, 4, "search"),
		}},
		{"azure 2023", "azure", azure2023Sample, 0, 1, []workload.Request{req(0, 374, 44), req(4314579, 396, 109)}},
		{"azure 2024", "azure", azure2024Sample, 0, 0, []workload.Request{req(0, 2162, 5), req(17335, 2399, 6), req(1500000, 76, 15)}},
		{"azure 2025", "azure", azure2025Sample, 0, 0, []workload.Request{req(0, 1500, 30), req(2000000, 20, 8)}},
		{"burstgpt 1", "burstgpt", burst1Sample, 1, 1, []workload.Request{
			session(req(0, 472, 18), workload.None, 0, "ChatGPT", "Conversation log"),
			session(req(113000000, 417, 276), workload.None, 0, "GPT-4", "Conversation log"),
		}},
		{"burstgpt 2", "burstgpt", burst2Sample, 0, 0, []workload.Request{
			session(req(0, 906, 446), 0, 0, "GPT-4", "Conversation log"),
			session(req(51500000, 36, 29), workload.None, 0, "ChatGPT", "API log"),
			session(req(82000000, 1779, 123), 0, 1, "GPT-4", "Conversation log"),
		}},
		{"requests", "requests", requestsSample, 0, 0, []workload.Request{
			served(req(0, 150, 5, seg{ID: 0, Tokens: 60}, seg{ID: 1, Tokens: 40}), 2), req(500, 40, 6),
			served(req(1000, 60, 7, seg{ID: 0, Tokens: 60}), 1), served(req(1500, 50, 8), 1), served(req(2000, 90, 9, seg{ID: 2, Tokens: 60}), 2),
		}},
		{"measured", "measured", measuredSample, 0, 1, []workload.Request{served(req(0, 1010, 128), 2), served(req(280739, 987, 128), 1)}},
	} {
		t.Run(x.name, func(t *testing.T) {
			tr, got, err := read("file", x.text, Source{})
			if err != nil {
				t.Fatal(err)
			}
			if tr.Format.Name != x.format || tr.NoPrompt != x.noPrompt || tr.NoOutput != x.noOutput || tr.Records != len(x.want)+x.noPrompt+x.noOutput {
				t.Errorf("format %s, %d records, %d without prompt, %d without output", tr.Format.Name, tr.Records, tr.NoPrompt, tr.NoOutput)
			}
			if !reflect.DeepEqual(got, x.want) {
				t.Errorf("read\n%+v, expected\n%+v", got, x.want)
			}
			for what, text := range disguises(x.text) {
				if _, same, err := read("file", text, Source{}); err != nil || !reflect.DeepEqual(same, got) {
					t.Errorf("%s: %v, or other requests", what, err)
				}
			}
		})
	}
}

// disguises are the same records in other clothes.
func disguises(text string) map[string]string {
	var z bytes.Buffer
	for _, part := range strings.SplitAfterN(text, "\n", 3) { // of several members, as gzip files put together are
		w := gzip.NewWriter(&z)
		io.WriteString(w, part)
		w.Close()
	}
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	header, _, _ := strings.Cut(text, "\n")
	all := map[string]string{
		"CRLF":                  crlf,
		"byte order mark":       "\ufeff" + text,
		"mark, CRLF, blank":     "\ufeff" + strings.ReplaceAll(crlf, "\r\n", "\r\n\r\n"),
		"no final newline":      strings.TrimSuffix(text, "\n"),
		"blank lines before":    "\n\n" + text,
		"gzip":                  z.String(),
		"gzip of CRLF with BOM": "",
	}
	z.Reset()
	w := gzip.NewWriter(&z)
	io.WriteString(w, "\ufeff"+crlf)
	w.Close()
	all["gzip of CRLF with BOM"] = z.String()
	if header[0] != '{' {
		all["header again"] = strings.Replace(text, "\n", "\n"+header+"\n", 2)
		all["quoted"] = quoteAll(text)
		all["reversed columns"] = reverseColumns(text)
		all["space and case"] = strings.Replace(strings.ReplaceAll(text, ",", " , "), header, strings.ToLower(header), 1)
	}
	return all
}

func quoteAll(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "\"%s\"\n", strings.ReplaceAll(strings.TrimSpace(line), ",", `","`))
	}
	return b.String()
}

func reverseColumns(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		for i := range fields {
			fmt.Fprint(&b, fields[len(fields)-1-i], map[bool]string{true: "\n", false: ","}[i == len(fields)-1])
		}
	}
	return b.String()
}

// Out of order records are sorted, those of one time stay in file order, and
// turns count in order of time.
func TestSorting(t *testing.T) {
	text := "Timestamp,Request tokens,Response tokens,Session ID\n30,3,1,a\n10,1,1,a\n30,4,1,b\n20,2,1,a\n30,5,1,a\n"
	tr, got, err := read("file", text, Source{})
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Request{
		session(req(0, 1, 1), 0, 0), session(req(10e6, 2, 1), 0, 1), session(req(20e6, 3, 1), 0, 2),
		session(req(20e6, 4, 1), 1, 0), session(req(20e6, 5, 1), 0, 3),
	}
	if notes := strings.Join(tr.Notes(), "\n"); notes != "file: 2 of 5 records stood behind a later one: sorted by time" {
		t.Errorf("notes %q", notes)
	}
	if !reflect.DeepEqual(got, want) || tr.Moved != 2 {
		t.Errorf("%d moved\n%+v, expected 2 and\n%+v", tr.Moved, got, want)
	}
	text = `{"timestamp": 9, "input_length": 6, "output_length": 1, "hash_ids": [1, 2]}
{"timestamp": 1, "input_length": 3, "output_length": 1, "hash_ids": []}
{"timestamp": 1, "input_length": 4, "output_length": 1, "hash_ids": [3]}
{"timestamp": 5, "input_length": 5, "output_length": 1, "hash_ids": [1]}
`
	_, got, err = read("file", text, Source{BlockTokens: 4})
	if err != nil {
		t.Fatal(err)
	}
	want = []workload.Request{
		req(0, 3, 1), req(0, 4, 1, seg{ID: 3, Tokens: 4}), req(4000, 5, 1, seg{ID: 1, Tokens: 4}),
		req(8000, 6, 1, seg{ID: 1, Tokens: 4}, seg{ID: partial(2, 2), Tokens: 2}),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n%+v, expected\n%+v", got, want)
	}
}

// One hash id with two fills is two segments; the builder would refuse one.
func TestPartialBlocks(t *testing.T) {
	text := ""
	for _, n := range []int{4, 16, 5, 4, 16} {
		text += fmt.Sprintf(`{"timestamp": 1, "input_length": %d, "output_length": 1, "hash_ids": [7]}`+"\n", n)
	}
	c, err := Load("file", strings.NewReader(text), Source{BlockTokens: 16}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := build(t, c)
	if want := []int32{0, 0, 0, 4, 16}; !reflect.DeepEqual(w.Ceiling, want) || w.BlockTokens != 16 {
		t.Errorf("ceilings %v in blocks of %d, expected %v in 16", w.Ceiling, w.BlockTokens, want)
	}
}

// Hash ids of 64 bits, signed or not, come through whole; whole numbers may
// be written as fractions.
func TestWideNumbers(t *testing.T) {
	text := `{"timestamp": 1.7e12, "input_length": 1024.0, "output_length": 1e1, "hash_ids": [ 18446744073709551614 ,-9223372036854775808]}` + "\n" +
		`{"timestamp": 1700000000000.001, "input_length": 512, "output_length": 1, "hash_ids": [9223372036854775807]}`
	_, got, err := read("file", text, Source{})
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Request{
		req(0, 1024, 10, seg{ID: -2, Tokens: 512}, seg{ID: -1 << 63, Tokens: 512}),
		req(1, 512, 1, seg{ID: 1<<63 - 1, Tokens: 512}),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n%+v, expected\n%+v", got, want)
	}
}

func TestLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"timestamp": 0, "input_length": 1600000, "output_length": 1, "hash_ids": [0`)
	for i := 1; i < 100000; i++ {
		fmt.Fprintf(&b, ",%d", 1000000+i)
	}
	b.WriteString("]}\n")
	one := b.String()
	_, got, err := read("file", one+one, Source{BlockTokens: 16})
	if err != nil || len(got) != 2 || len(got[1].Segments) != 100000 || got[1].Segments[99999].ID != 1099999 {
		t.Errorf("%d requests, %v", len(got), err)
	}
}

// The reader's own source is passed on undisturbed by how it delivers.
func TestSlowSource(t *testing.T) {
	want, err := Load("file", strings.NewReader(mooncakeSample), Source{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load("file", iotest.OneByteReader(strings.NewReader(mooncakeSample)), Source{}, Options{})
	if err != nil || !reflect.DeepEqual(collect(got), collect(want)) {
		t.Errorf("%v, or other requests", err)
	}
	broken := errors.New("broken")
	_, err = Load("file", io.MultiReader(strings.NewReader(mooncakeSample), iotest.ErrReader(broken)), Source{}, Options{})
	if !errors.Is(err, broken) {
		t.Errorf("%v, expected the source's own error", err)
	}
}

// Format.Read hands records on as they stand, and an error of the caller's.
func TestRawRecords(t *testing.T) {
	f, _ := Find("burstgpt")
	var arrivals []int64
	var lines []int
	if err := f.Read(strings.NewReader(burst1Sample), func(line int, r *workload.Request) error {
		arrivals, lines = append(arrivals, r.ArrivalUs), append(lines, line)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{5e6, 45e6, 118e6, 1106e6}; !reflect.DeepEqual(arrivals, want) || !reflect.DeepEqual(lines, []int{2, 3, 4, 5}) {
		t.Errorf("arrivals %v on lines %v, expected %v on 2 to 5", arrivals, lines, want)
	}
	enough := errors.New("enough")
	if err := f.Read(strings.NewReader(burst1Sample), func(int, *workload.Request) error { return enough }); err != enough {
		t.Errorf("%v, expected the caller's error", err)
	}
}

func TestRegistry(t *testing.T) {
	for _, f := range Formats() {
		if f.Name == "" || f.Summary == "" || f.Source == "" || f.Columns == "" || f.Empty == "" || f.read == nil || f.matches == nil {
			t.Errorf("format %+v is incomplete", f)
		}
		if same, ok := Find(f.Name); !ok || same.Summary != f.Summary {
			t.Errorf("%s is not found by its name", f.Name)
		}
	}
	if _, ok := Find("nonsense"); ok {
		t.Error("nonsense is a format")
	}
	for _, x := range []struct{ file, head, want string }{
		{"a", mooncakeSample, "mooncake"},
		{"a", mooncakeSample[:60], "mooncake"}, // the first line cut off
		{"a", bailianSample, "qwen-bailian"},
		{"a.parquet", azure2023Sample, "azure"},
		{"a", azure2024Sample, "azure"},
		{"a", reverseColumns(burst2Sample), "burstgpt"},
		{"a", "PAR1....", "parquet"},
		{"A.PARQUET", "....", "parquet"},
		{"a.parquet.gz", "....", "parquet"},
		{"a.jsonl", `{"prompt": "hello"}`, ""},
		{"a.csv", "a,b,c\n1,2,3\n", ""},
		{"a", "", ""},
	} {
		if f, ok := Detect(x.file, []byte(x.head)); f.Name != x.want || ok != (x.want != "") {
			t.Errorf("%s with %.30q: format %q, expected %q", x.file, x.head, f.Name, x.want)
		}
	}
}
