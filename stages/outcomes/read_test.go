package outcomes

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"switchyard/sim/cascade"
	"switchyard/sim/rng"
	"switchyard/stages/trace"
)

const (
	routeSample   = "dataset,subject,row,weak_a,strong_b,prompt_chars\nmmlu,law,0,1,1,100\nmmlu,law,1,0,1,200\ngsm8k,,0,0,0,50\n"
	publishSample = "prompt,mixtral-8x7b-instruct-v0.1,gpt-4-1106-preview,mixtral-8x7b-instruct-v0.1_response,gpt-4-1106-preview_response\n" +
		"\"What,\nnow?\",True,False,a,bb\nWhy?,False,True,ccc,dddd\n"
	routerSample = "row,cluster,question_chars,x-7b,y-9b\n0,2,779,0.0,1.0\n1,,968,0.5,1.0\n"
	benchSample  = "sample_id,prompt,eval_name,weak,strong,weak|model_response,weak|total_cost,strong|model_response,strong|total_cost,oracle_model_to_route_to\n" +
		"mmlu.1,\"A \"\"long\"\"\nprompt\",mmlu,0.0,1.0,no,0.0001,yes sir,0.01,strong\n" +
		"mmlu.2,short,mmlu,1.0,,a,0.0002,b,0.02,weak\n" +
		"gsm.1,short,gsm8k,0.25,1,a,0.0003,b,0.03,strong\n"
	agentSample  = "module0,module1,accuracy_pct,latency_s,cost_usd_200q,note\nA,A,50,1.5,2,\nA,B,75,2,4,\nB,A,25,1,6,role2_never_called\nB,B,100,3,8,\n"
	moduleSample = "question,plan,solve,correct,cost,latency\nq1,A,A,1,.1,1\nq1,A,B,0,.2,2\nq1,B,A,0,.3,3\nq1,B,B,1,.4,4\n" +
		"q2,B,B,.5,.4,4\nq2,A,A,1,.3,1\nq2,A,B,1,.2,2\nq2,B,A,0,.1,3\n"
	plainSample = "question,dataset,prompt_tokens,split,a,b,a|cost,b|cost\n1,x,10,train,0,1,.1,1\n2,y,20,test,1,1,.2,2\n3,x,30,test,0.5,0,.3,3\n"
	jsonSample  = `{"performance": 0.5, "records": [
 {"index": 1, "origin_query": "2+2?", "prompt": "Q: 2+2?", "prediction": "4", "ground_truth": "4", "score": 1.0, "prompt_tokens": 15, "completion_tokens": 5, "cost": 0.001},
 {"index": 2, "origin_query": "3+3?", "prompt": "Q: 3+3?", "prediction": "7", "ground_truth": "6", "score": 0.0, "prompt_tokens": 15, "completion_tokens": 7, "cost": 0.002}],
 "model_name": "small", "dataset_name": "sums", "split": "test", "demo": false}`
	linesSample = `{"model": "a", "dataset": "d", "origin_query": "x?", "score": true}
{"model": "b", "dataset": "d", "origin_query": "x?", "score": 0.5, "index": 1}
`
)

func mustRead(t *testing.T, file, data string, s Source) *Outcomes {
	t.Helper()
	o, err := Read(file, strings.NewReader(data), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestQuestionFormats(t *testing.T) {
	for _, c := range []struct {
		data, format string
		models       []string
		score, cost  []float32
		features     []string
		value        []float32
		group        string
		of           []int32
		answer       []float32
		notes        int
	}{
		{routeSample, "routellm", []string{"weak_a", "strong_b"}, []float32{1, 1, 0, 1, 0, 0}, nil,
			[]string{"prompt_chars"}, []float32{100, 200, 50}, "subject", []int32{0, 0, -1}, nil, 0},
		{routerSample, "llmrouter", []string{"x-7b", "y-9b"}, []float32{0, 1, .5, 1}, nil,
			[]string{"question_chars"}, []float32{779, 968}, "cluster", []int32{0, -1}, nil, 0},
		{benchSample, "routerbench", []string{"weak", "strong"}, []float32{0, 1, .25, 1}, []float32{.0001, .01, .0003, .03},
			[]string{"prompt_chars"}, []float32{15, 5}, "eval_name", []int32{0, 1}, []float32{2, 7, 1, 1}, 1},
		{plainSample, "plain", []string{"a", "b"}, []float32{0, 1, 1, 1, .5, 0}, []float32{.1, 1, .2, 2, .3, 3},
			[]string{"prompt_tokens"}, []float32{10, 20, 30}, "dataset", []int32{0, 1, 0}, nil, 1},
		{linesSample, "llmrouterbench", []string{"a", "b"}, []float32{1, .5}, nil,
			[]string{"query_chars"}, []float32{2}, "dataset", []int32{0}, nil, 0},
	} {
		o := mustRead(t, "f", c.data, Source{})
		q := o.Questions
		if o.Format.Name != c.format || !slices.Equal(q.Models, c.models) || !slices.Equal(q.Score, c.score) || !slices.Equal(q.Cost, c.cost) ||
			!slices.Equal(q.Features, c.features) || !slices.Equal(q.Value, c.value) || !slices.Equal(q.Answer, c.answer) || len(o.Notes) != c.notes {
			t.Errorf("%s read as %s: %+v, notes %q", c.format, o.Format.Name, q, o.Notes)
		}
		if g := groupOf(q, c.group); g == nil || !slices.Equal(g.Of, c.of) {
			t.Errorf("%s: group %s is %+v", c.format, c.group, g)
		}
		if err := q.Validate(); err != nil {
			t.Errorf("%s: %v", c.format, err)
		}
	}
}

func TestPrices(t *testing.T) {
	q := mustRead(t, "f", routeSample, Source{Prices: []string{"strong_b=.5", "weak_a = 0"}}).Questions
	if !slices.Equal(q.Cost, []float32{0, .5, 0, .5, 0, .5}) {
		t.Errorf("costs %v", q.Cost)
	}
}

// TestSettingErrors: what is wrong with Source and not with the file says so.
func TestSettingErrors(t *testing.T) {
	for key, s := range map[string]Source{
		"prices": {Prices: []string{"a=x"}}, "models": {Models: []string{"c"}}, "features": {Features: []string{"c"}},
		"groups": {Groups: []string{"c"}}, "format": {Format: "plian"}, "modules": {Modules: []string{"c"}, Format: "modules"},
	} {
		var wrong *SettingError
		if _, err := Read("f", strings.NewReader("question,a,b\n1,1,0\n"), s); !errors.As(err, &wrong) || wrong.Key != key {
			t.Errorf("%s: %v", key, err)
		}
	}
	var wrong *SettingError
	if _, err := Read("f", strings.NewReader("a,b\n1,0\n"), Source{}); err == nil || errors.As(err, &wrong) {
		t.Errorf("nothing was asked for: %v", err)
	}
}

func TestRepeatedQuestions(t *testing.T) {
	for data, want := range map[string]int{
		"question,a\nx,1\ny,0\n": 1, "question,a\nx,1\ny,0\nx,0\nx,1\n": 2, "question,dataset,a\nx,m,1\nx,n,0\n": 1,
	} {
		if o := mustRead(t, "f", data, Source{}); len(o.Notes) != want || want == 2 && !strings.Contains(o.Notes[1], "2 rows have the name") {
			t.Errorf("%q: %q", data, o.Notes)
		}
	}
}

func TestPublishedRouteLLM(t *testing.T) {
	o := mustRead(t, "mmlu_law.csv", publishSample, Source{})
	if q := o.Questions; o.Format.Name != "routellm" || len(q.Models) != 2 || !slices.Equal(q.Score, []float32{1, 0, 0, 1}) ||
		q.Value[0] != 10 || !slices.Equal(q.Answer, []float32{1, 2, 3, 4}) {
		t.Fatalf("%s: %+v", o.Format.Name, q)
	}
}

func TestModuleFormats(t *testing.T) {
	a := mustRead(t, "f", agentSample, Source{})
	if acc, _ := a.Averages.Accuracy([]int32{0, 1}); acc != .75 || a.Averages.Questions() != 200 || len(a.Notes) != 1 {
		t.Errorf("accuracy %v over %d questions, notes %q", acc, a.Averages.Questions(), a.Notes)
	}
	if cost, _ := a.Averages.Cost([]int32{1, 1}); cost != .04 {
		t.Errorf("cost %v a question", cost)
	}
	m := mustRead(t, "f", moduleSample, Source{}).Modules
	w, err := m.World([]int{0, 1})
	if err != nil || m.Missing() != 0 {
		t.Fatal(err, m.Missing())
	}
	scores := make([]float32, 2)
	if err := w.Scores([]int32{1, 1}, scores); err != nil || scores[0] != 1 || scores[1] != .5 {
		t.Errorf("%v, %v", scores, err)
	}
	if cost, _ := w.Cost([]int32{0, 0}); cost < .2-1e-6 || cost > .2+1e-6 {
		t.Errorf("cost %v", cost)
	}
	short := mustRead(t, "f", strings.TrimSuffix(moduleSample, "q2,B,A,0,.1,3\n"), Source{})
	if short.Modules.Missing() != 1 || len(short.Notes) != 1 || !strings.Contains(short.Notes[0], "1 of 8 answers") {
		t.Errorf("%q", short.Notes)
	}
	// The second module lists its models in another order: one model, one number.
	crossed := mustRead(t, "f", "question,module0,module1,score\n1,A,B,1\n1,A,A,0\n1,B,B,0\n1,B,A,0\n", Source{}).Modules
	if !slices.Equal(crossed.Candidates[0], crossed.Candidates[1]) {
		t.Errorf("candidates %v", crossed.Candidates)
	}
}

// One file a model and dataset; the later of two files counts, and a question
// that one model lacks is left out.
func TestFolderOfLLMRouterBench(t *testing.T) {
	folder := t.TempDir()
	write := func(path, data string) {
		t.Helper()
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sums/test/small/sums-20250101_000000.json", strings.Replace(jsonSample, `"score": 1.0`, `"score": 0.25`, 1))
	write("sums/test/small/sums-20250102_000000.json", jsonSample)
	// Names from the folders; a third question that small did not answer.
	write("sums/test/large/sums-20250101_000000.json", `{"records": [
		{"index": 2, "origin_query": "3+3?", "score": null, "completion_tokens": 9, "cost": 0.02},
		{"index": 3, "origin_query": "4+4?", "score": 1, "completion_tokens": 9, "cost": 0.02},
		{"index": 1, "origin_query": "2+2?", "score": 1, "completion_tokens": 9, "cost": 0.01}]}`)
	o, err := Open(folder, Source{})
	if err != nil {
		t.Fatal(err)
	}
	q := o.Questions
	if !slices.Equal(q.Models, []string{"large", "small"}) || !slices.Equal(q.ID, []string{"2", "1"}) || !slices.Equal(q.Score, []float32{0, 0, 1, 1}) ||
		!slices.Equal(q.Cost, []float32{.02, .002, .01, .001}) || !slices.Equal(q.Answer, []float32{9, 7, 9, 5}) || q.Value[0] != 4 {
		t.Fatalf("%+v", q)
	}
	if text := strings.Join(o.Notes, "\n"); !strings.Contains(text, "2 records left out: a later file") || !strings.Contains(text, "1 of 3 questions left out") || !strings.Contains(text, "1 scores are null") {
		t.Errorf("notes %q", o.Notes)
	}
	write("sums/test/trial/sums-1.json", strings.Replace(jsonSample, `"demo": false`, `"demo": true`, 1))
	if o, err = Open(folder, Source{}); err != nil || len(o.Questions.Models) != 2 || !strings.Contains(strings.Join(o.Notes, ""), "1 files left out: demo runs") {
		t.Errorf("%v, %+v", err, o)
	}
	write("sums/test/other/sums-1.json", strings.Replace(jsonSample, "2+2?", "5+5?", 1))
	if _, err = Open(folder, Source{}); err == nil || !strings.Contains(err.Error(), "another question than 1") {
		t.Errorf("%v", err)
	}
}

func TestFolderOfTables(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"mmlu_law.csv", "mmlu_art.csv"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(publishSample), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o, err := Open(folder, Source{})
	if err != nil || o.Questions.Questions() != 4 || !slices.Equal(o.Questions.Groups[0].Labels, []string{"mmlu_art", "mmlu_law"}) {
		t.Fatalf("%v, %+v", err, o)
	}
	os.WriteFile(filepath.Join(folder, "z.csv"), []byte(agentSample), 0o644)
	if _, err = Open(folder, Source{}); err == nil || !strings.Contains(err.Error(), "z.csv: file is of format agentopt") {
		t.Errorf("%v", err)
	}
}

// A byte order mark, CRLF and gzip change nothing.
func TestDisguises(t *testing.T) {
	for _, s := range []string{routeSample, benchSample, agentSample, moduleSample, plainSample, jsonSample, linesSample} {
		want := fmt.Sprint(tables(mustRead(t, "f", s, Source{})))
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write([]byte(s))
		w.Close()
		for i, d := range []string{"\ufeff" + s, strings.ReplaceAll(s, "\n", "\r\n"), z.String()} {
			if got := fmt.Sprint(tables(mustRead(t, "f", d, Source{}))); got != want {
				t.Errorf("disguise %d of %.20q: %s, expected %s", i, s, got, want)
			}
		}
	}
}

// tables is what a file holds, without pointers.
func tables(o *Outcomes) any {
	switch {
	case o.Questions != nil:
		return *o.Questions
	case o.Modules != nil:
		return *o.Modules
	}
	return *o.Averages
}

func TestParquetIsAsCSV(t *testing.T) {
	type row struct {
		ID     string  `parquet:"sample_id"`
		Prompt string  `parquet:"prompt"`
		Eval   string  `parquet:"eval_name,dict"`
		Weak   float64 `parquet:"weak"`
		Strong *int32  `parquet:"strong,optional"`
		A      string  `parquet:"weak|model_response"`
		CostA  float64 `parquet:"weak|total_cost"`
		B      *string `parquet:"strong|model_response,optional"`
		CostB  float32 `parquet:"strong|total_cost"`
		Extra  []int64 `parquet:"extra,list"`
	}
	one, b, yes := int32(1), "b", "yes sir"
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file)
	for _, r := range []row{
		{"mmlu.1", "A \"long\"\nprompt", "mmlu", 0, &one, "no", .0001, &yes, .01, []int64{1, 2}},
		{"mmlu.2", "short", "mmlu", 1, nil, "a", .0002, &b, .02, nil},
		{"gsm.1", "short", "gsm8k", .25, &one, "a", .0003, &b, .03, []int64{3}},
	} {
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil { // a row group each
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := mustRead(t, "f", file.String(), Source{})
	if got, want := fmt.Sprint(*o.Questions), fmt.Sprint(*mustRead(t, "f", benchSample, Source{}).Questions); got != want || o.Format.Name != "routerbench" {
		t.Errorf("%s: %s, as CSV %s", o.Format.Name, got, want)
	}
	if _, err := Read("f", strings.NewReader(file.String()[:file.Len()-20]), Source{}); err == nil {
		t.Error("half a file is read")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		data string
		s    Source
		want string
	}{
		{"", Source{}, "f: file is empty, expected outcomes in one of the formats routerbench, "},
		{"\x80\x04\x95abc", Source{}, "f: file is a Python pickle, which can run code when it is read, expected Parquet or CSV"},
		{"PK\x03\x04", Source{}, "zip archive"},
		{"a,b\n1,2\n", Source{}, "f:1: format cannot be told, expected the columns of one of"},
		{"a,b\n1,2\n", Source{Format: "plan"}, "did you mean plain?"},
		{"a,b\n1,2\n", Source{Format: "llmrouterbench"}, "CSV and Parquet are tables, JSON is llmrouterbench"},
		{"id,a,a\n", Source{}, "f:1: header has the column `a` twice"},
		{"id,a\n1,2\n", Source{}, "f:2: a is 2, expected a score from 0 to 1"},
		{"id,a\n1,0\n\n2,x\n", Source{}, "f:4: a is `x`, expected a score from 0 to 1, True or False"},
		{"id,a\n1\n", Source{}, "f:2: record has another number of fields than the header, expected the header's 2: id, a"},
		{"id,a\n1,\"x\n", Source{}, "line is no CSV"},
		{"id,a\n1,\n", Source{}, "f: none of 1 questions has the scores and costs of all models"},
		{"id,gpt,gtp|cost\n", Source{}, "gpt|cost is missing, expected a column of that name; the file has id, gpt, gtp|cost; did you mean gtp|cost?"},
		{"id,gpt\n1,1\n", Source{Models: []string{"gtp"}}, "gtp is missing, expected a column of that name; the file has id, gpt; did you mean gpt?"},
		{"id,a,a|cost\n1,1,-2\n", Source{}, "f:2: a|cost is -2, expected dollars"},
		{"id,split,a\n1,trian,1\n", Source{}, "split is `trian`, expected train, test"},
		{strings.Replace(benchSample, ",weak,", ",weka,", 1), Source{}, "weak is missing"},
		{strings.Replace(agentSample, "75", "175", 1), Source{}, "f:3: accuracy_pct is 175, expected percent from 0 to 100"},
		{agentSample + "A,B,75,2,4,\n", Source{}, "f:6: module0=A, module1=B is recorded twice"},
		{strings.Replace(moduleSample, "q1,A,B,0", "q1,A,,0", 1), Source{}, "f:3: solve is missing, expected the name of the module's model"},
		{moduleSample + "q2,B,A,0,.1,3\n", Source{}, "f:10: question q2 is recorded twice for plan=B, solve=A"},
		{routeSample, Source{Prices: []string{"weak_a=0", "strong_c=1"}}, "did you mean strong_b?"},
		{routeSample, Source{Prices: []string{"weak_a=0"}}, "f: prices is without strong_b, expected a price for every model"},
		{routeSample, Source{Prices: []string{"weak_a=-1"}}, "MODEL=DOLLARS with a number from 0 to a million"},
		{routeSample, Source{Prices: []string{"weak_a=1e200", "strong_b=1"}}, "MODEL=DOLLARS with a number from 0 to a million"},
		{routeSample, Source{Prices: []string{"weak_a=1", "strong_b=1", "weak_a=2"}}, "prices is `weak_a=2` beside another price of weak_a, expected one price a model"},
		{"id,a\r1,1\r2,0\r", Source{}, "f:1: lines end in a carriage return alone"},
		{"id,a,b\n1,1,0\n", Source{Models: []string{"a", "a"}}, "f:1: a is named twice, expected each column once"},
		{moduleSample, Source{Modules: []string{"plan", "plan"}}, "f:1: plan is named twice"},
		{moduleSample, Source{Prices: []string{"A=1"}}, "module-level"},
		{moduleSample, Source{Modules: []string{"plam"}}, "did you mean plan?"},
		{strings.Replace(jsonSample, `"score": 0.0`, `"score": 7`, 1), Source{}, "f: row 2: score is 7, expected a score from 0 to 1"},
		{strings.Replace(jsonSample, `"score": 0.0, `, "", 1), Source{}, "f: row 2: score is missing"},
		{strings.Replace(jsonSample, `"cost": 0.002`, `"cost": "much"`, 1), Source{}, "cost is a JSON string, expected a number"},
		{strings.Replace(jsonSample, `"index": 2`, `"index": 1`, 1), Source{}, "another question than 1"},
		{jsonSample[:len(jsonSample)/2], Source{}, "JSON breaks off"},
		{`{"a": 1}`, Source{}, "origin_query is missing"},
		{strings.Replace(jsonSample, `"demo": false`, `"demo": true`, 1), Source{}, "nothing but demo runs"},
		{"[1]", Source{}, "f: row 1: "},
		{linesSample + `{"model": "b", "dataset": "d", "origin_query": "x?", "score": 0, "index": 1}`, Source{}, "answered twice by b"},
	} {
		_, err := Read("f", strings.NewReader(c.data), c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v\nexpected ...%s...", c.data, err, c.want)
		}
	}
}

// A quote that never closes must not fill the memory.
func TestEndlessQuote(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 70 MiB")
	}
	endless := strings.NewReader("id,a\n1,\"" + strings.Repeat("x", 70<<20))
	var e *trace.Error
	if _, err := Read("f", endless, Source{}); !errors.As(err, &e) || !strings.Contains(e.Problem, "longer than 64 MiB") {
		t.Fatal(err)
	}
}

// RouterBench's size: 30,000 prompts and 11 models, answers of 200 characters.
func BenchmarkRouterBench(b *testing.B) {
	var text strings.Builder
	text.WriteString("sample_id,prompt,eval_name")
	for m := range 11 {
		fmt.Fprintf(&text, ",m%d,m%d|model_response,m%d|total_cost", m, m, m)
	}
	s := rng.New(1, 1, "bench")
	for q := range 3000 {
		fmt.Fprintf(&text, "\nid.%d,\"%s\",mmlu", q, strings.Repeat("prompt, ", 40))
		for range 11 {
			fmt.Fprintf(&text, ",%d,\"%s\",%.6f", s.IntN(2), strings.Repeat("so it is,\n", 20), s.Float64()/100)
		}
	}
	b.SetBytes(int64(text.Len()))
	var t *cascade.Table
	for b.Loop() {
		o, err := Read("f", strings.NewReader(text.String()), Source{})
		if err != nil {
			b.Fatal(err)
		}
		t = o.Questions
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*t.Questions()), "us/question")
}
