package endpoint

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"switchyard/sim/param"
	"switchyard/stages/outcomes"
	"switchyard/stages/trace"
)

// Question is a question with the answer that is right.
type Question struct {
	Text    string
	Gold    string
	Context map[string]string // further columns, by name
}

// Columns name the columns, or JSON fields, of a file of questions.
type Columns struct {
	Question string   `yaml:"question_column" default:"question" doc:"column of the questions"`
	Answer   string   `yaml:"answer_column" default:"answer" doc:"column of the right answers"`
	Context  []string `yaml:"context_columns" doc:"further columns that prompts may name"`
}

// ReadQuestions reads a file by the end of its name: .csv, .jsonl or .parquet.
func ReadQuestions(path string, c Columns) ([]Question, error) {
	rows, err := readTexts(path)
	if err != nil {
		return nil, err
	}
	var all []Question
	for _, r := range rows {
		q := Question{Context: map[string]string{}}
		for _, name := range append([]string{c.Question, c.Answer}, c.Context...) {
			text, ok := r.fields[name]
			if !ok {
				return nil, &trace.Error{File: path, Line: r.line, Field: name, Problem: "missing", Expected: "a column of that name; there are " + r.names()}
			}
			switch name {
			case c.Question:
				q.Text = text
			case c.Answer:
				q.Gold = text
			default:
				q.Context[name] = text
			}
		}
		if strings.TrimSpace(q.Text) == "" || strings.TrimSpace(q.Gold) == "" {
			return nil, &trace.Error{File: path, Line: r.line, Field: c.Question + ", " + c.Answer, Problem: "empty", Expected: "a question and its answer"}
		}
		all = append(all, q)
	}
	if len(all) == 0 {
		return nil, &trace.Error{File: path, Problem: "file has no rows", Expected: "one a question"}
	}
	return all, nil
}

// row is a row of texts by column.
type row struct {
	line   int
	fields map[string]string
}

func (r row) names() string {
	var names []string
	for name := range r.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// readTexts reads all rows of a file.
func readTexts(path string) ([]row, error) {
	kinds := []string{".csv", ".jsonl", ".parquet"}
	kind := strings.ToLower(filepath.Ext(path))
	if kind == ".parquet" {
		texts, err := outcomes.ReadTexts(path)
		rows := make([]row, len(texts))
		for i := range texts {
			rows[i] = row{i + 1, texts[i]}
		}
		return rows, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch kind {
	case ".csv":
		return readCSV(path, f)
	case ".jsonl":
		return readJSONL(path, f)
	}
	expected := "one of " + strings.Join(kinds, ", ")
	if near := param.Nearest(kind, kinds); near != "" {
		expected += "; did you mean " + near + "?"
	}
	return nil, &trace.Error{File: path, Problem: fmt.Sprintf("the name ends in %q", kind), Expected: expected}
}

func readCSV(path string, r io.Reader) (rows []row, err error) {
	c := csv.NewReader(bufio.NewReader(r))
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, &trace.Error{File: path, Problem: "file is empty", Expected: "a header with the columns' names"}
	}
	for err == nil {
		var record []string
		if record, err = c.Read(); err != nil {
			break
		}
		line, _ := c.FieldPos(0)
		fields := map[string]string{}
		for i, name := range header {
			fields[strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))] = record[i]
		}
		rows = append(rows, row{line, fields})
	}
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return rows, nil
	case errors.As(err, &wrong):
		return nil, &trace.Error{File: path, Line: wrong.Line, Problem: fmt.Sprintf("line is no CSV (%v)", wrong.Err), Expected: fmt.Sprintf("the header's %d fields with commas between them", len(header))}
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// longestLine bounds a line of JSON.
const longestLine = 64 << 20

func readJSONL(path string, r io.Reader) (rows []row, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
			return nil, &trace.Error{File: path, Line: n, Problem: "line is no JSON object", Expected: `{"question": ..., "answer": ...}`}
		}
		rows = append(rows, row{n, texts(fields)})
	}
	if err := lines.Err(); err != nil {
		return nil, &trace.Error{File: path, Line: len(rows) + 1, Problem: err.Error(), Expected: fmt.Sprintf("lines of at most %d MiB", longestLine>>20)}
	}
	return rows, nil
}

// texts are the values of a JSON object: texts as they are, of a list of texts
// the alternatives with | between them, all else as JSON. null is left out.
func texts(fields map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, value := range fields {
		var text *string
		var list []string
		switch {
		case json.Unmarshal(value, &text) == nil:
			if text != nil {
				out[name] = *text
			}
		case json.Unmarshal(value, &list) == nil:
			out[name] = strings.Join(list, "|")
		default:
			out[name] = string(value)
		}
	}
	return out
}
