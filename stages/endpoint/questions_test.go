package endpoint

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestQuestions: the same questions from all three kinds of file.
func TestQuestions(t *testing.T) {
	dir := t.TempDir()
	type row struct {
		Question string  `parquet:"question"`
		Answer   string  `parquet:"answer"`
		Hint     *string `parquet:"hint,optional"`
		Weight   float64 `parquet:"weight"`
	}
	low, none := "None", "NA"
	if err := parquet.WriteFile(filepath.Join(dir, "q.parquet"), []row{{"1 and\n\"1\"", "2", &low, 0.5}, {"who?", "None", &none, 3}}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"q.csv":   "\ufeffquestion,answer,hint,weight\n\"1 and\n\"\"1\"\"\",2,None,0.5\nwho?,None,NA,3\n",
		"q.jsonl": `{"question": "1 and\n\"1\"", "answer": 2, "hint": "None", "weight": 0.5}` + "\n\n" + `{"question": "who?", "answer": ["None"], "hint": "NA", "weight": 3}`,
	})
	want := []Question{
		{Text: "1 and\n\"1\"", Gold: "2", Context: map[string]string{"hint": "None", "weight": "0.5"}},
		{Text: "who?", Gold: "None", Context: map[string]string{"hint": "NA", "weight": "3"}},
	}
	for _, name := range []string{"q.csv", "q.jsonl", "q.parquet"} {
		got, err := ReadQuestions(filepath.Join(dir, name), Columns{"question", "answer", []string{"hint", "weight"}})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// FuzzQuestions: no file makes a reader panic, and what it reads is whole.
func FuzzQuestions(f *testing.F) {
	f.Add("question,answer\na,b\n", `{"question": "a", "answer": ["b", "c"]}`)
	f.Add("question\n\"", `{"question": null}`)
	f.Fuzz(func(t *testing.T, csv, jsonl string) {
		if rows, err := readCSV("f.csv", strings.NewReader(csv)); err == nil {
			for _, r := range rows {
				if r.line < 1 {
					t.Errorf("line %d", r.line)
				}
			}
		}
		if rows, err := readJSONL("f.jsonl", strings.NewReader(jsonl)); err == nil && len(rows) > strings.Count(jsonl, "\n")+1 {
			t.Errorf("%d rows of %q", len(rows), jsonl)
		}
	})
}

// FuzzStream: no reply makes the readers panic, and a stream that ends well has
// its whole text.
func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\": [{\"delta\": {\"content\": \"a\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n")
	f.Add(`{"choices": [{"message": {"content": [{"text": "a"}]}}], "usage": {"prompt_tokens": -1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, read := range []func(*reply) error{
			func(r *reply) error { return readStream(strings.NewReader(body), r) },
			func(r *reply) error { return readPlain(strings.NewReader(body), r) },
		} {
			r := reply{counted: true}
			if err := read(&r); err == nil && (r.input < 0 || r.output < 0) {
				t.Errorf("%d and %d tokens", r.input, r.output)
			}
		}
	})
}
