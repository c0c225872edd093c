package outcomes

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"switchyard/stages/trace"
)

// llmRouterBench is the format of LLMRouterBench's results.
var llmRouterBench = Format{
	Name:    "llmrouterbench",
	Summary: "JSON of one model's answers to one dataset's questions, a folder of them (LLMRouterBench), or lines of JSON",
	Source:  "github.com/ynulihao/LLMRouterBench, results/bench/DATASET/SPLIT/MODEL/TIME.json",
	Columns: "model_name, dataset_name, split (of the document, of the record, or by the folders' names) and records (or lines, or a list) with score (0..1; null counts as 0, as there), " +
		"origin_query (to tell questions apart), optional index, completion_tokens (tokens), cost (dollars)",
	Level:   "question",
	matches: func([]string) bool { return true }, // the only one of JSON
}

// record is one model's answer to one question; pointers are nil where the
// field is missing.
type record struct {
	Model       string          `json:"model"`
	ModelName   string          `json:"model_name"`
	Dataset     string          `json:"dataset"`
	DatasetName string          `json:"dataset_name"`
	Split       string          `json:"split"`
	Index       json.RawMessage `json:"index"`
	Query       json.RawMessage `json:"origin_query"`
	Prompt      json.RawMessage `json:"prompt"`
	Score       json.RawMessage `json:"score"`
	Output      *float64        `json:"completion_tokens"`
	Cost        *float64        `json:"cost"`
}

// records collects answers of all models, file after file.
type records struct {
	folder   string // "" where a file is read by itself
	files    []string
	models   []string
	number   map[string]int32 // of a model
	question map[string]int32 // by dataset, split and id
	about    []about
	answers  []oneAnswer
	newest   map[[3]string]int32 // by dataset, split and model: the last file that has it
	nulls    int                 // scores
	demos    int                 // documents
}

// about is what is known of a question before it is asked.
type about struct {
	dataset, split, id string
	hash               uint64
	chars              float32
	file               int32 // that it came from first
}

// oneAnswer has NaN for what is not recorded.
type oneAnswer struct {
	question, model, file int32
	score, cost, output   float32
}

func newRecords() *records {
	return &records{number: map[string]int32{}, question: map[string]int32{}, newest: map[[3]string]int32{}}
}

// document is one file while it is read.
type document struct {
	*records
	file                  string
	model, dataset, split string // that hold for all records without their own
	n                     int    // records so far
	waiting               []parsed
}

// parsed is a record before its names are known: a document may give them
// behind its records.
type parsed struct {
	model, dataset, split string
	about                 about
	answer                oneAnswer
}

// read decodes a document, lines, or a list.
func (rs *records) read(file string, r io.Reader) error {
	source := &capped{r: r, left: recordLimit}
	buffered := bufio.NewReaderSize(source, 64<<10)
	if head, _ := buffered.Peek(3); string(head) == "\ufeff" {
		buffered.Discard(3)
	}
	d := &document{records: rs, file: file}
	rs.files = append(rs.files, file)
	d.name(rs.below(file))
	dec := json.NewDecoder(buffered)
	for {
		source.left = recordLimit
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			switch token {
			case json.Delim('{'):
				err = d.object(dec, source)
			case json.Delim('['):
				err = d.list(dec, source)
			default:
				err = bad("", "record is no JSON object", "objects with score and origin_query")
			}
		}
		if err != nil {
			return d.failed(err)
		}
	}
	if err := d.flush(); err != nil {
		return d.failed(err)
	}
	if d.n == 0 {
		return &trace.Error{File: file, Problem: "file has no records", Expected: "records with score and origin_query"}
	}
	return nil
}

// below is the file's path from the folder that is read, its name alone where
// it is read by itself.
func (rs *records) below(file string) string {
	if rs.folder != "" {
		if rel, err := filepath.Rel(rs.folder, file); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.Base(file)
}

// name takes from DATASET/SPLIT/MODEL/TIME.json, DATASET/MODEL/TIME.json,
// MODEL/TIME.json or MODEL.json what the document may not say.
func (d *document) name(path string) {
	parts := strings.Split(path, "/")
	dirs := parts[:len(parts)-1]
	switch n := len(dirs); {
	case n == 0:
		d.model, _, _ = strings.Cut(parts[0], ".json")
	case n == 1:
		d.model = dirs[0]
	case n == 2:
		d.dataset, d.model = dirs[0], dirs[1]
	default:
		d.dataset, d.split, d.model = dirs[n-3], dirs[n-2], dirs[n-1]
	}
}

// failed puts the decoder's complaints into this package's words.
func (d *document) failed(err error) error {
	var kind *json.UnmarshalTypeError
	var mine *trace.Error
	switch {
	case errors.As(err, &mine):
	case errors.As(err, &kind) && kind.Field != "":
		err = bad(kind.Field, "a JSON "+kind.Value, "a "+map[bool]string{true: "string", false: "number"}[kind.Type.Kind().String() == "string"])
	case errors.Is(err, errTooLong):
		err = &trace.Error{Problem: fmt.Sprintf("record is longer than %d MiB", recordLimit>>20), Expected: "a record a question"}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		err = &trace.Error{Problem: "JSON breaks off", Expected: "the whole file: fetch it again"}
	default:
		err = &trace.Error{Problem: fmt.Sprintf("file is no JSON (%v)", err), Expected: "a document, lines or a list of records"}
	}
	return place(err, d.file, d.n+1, true)
}

// object reads a document with records, or, where it has none, one record. Its
// opening brace was read.
func (d *document) object(dec *json.Decoder, source *capped) error {
	fields := map[string]json.RawMessage{}
	for dec.More() {
		source.left = recordLimit
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if name == "records" {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			if token != json.Delim('[') {
				return bad("records", "no list", "a list of records")
			}
			if err := d.list(dec, source); err != nil {
				return err
			}
			fields["records"] = nil
			continue
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, document := fields["records"]; document {
		if string(fields["demo"]) == "true" { // a trial run, which the publisher's loader passes over too
			d.demos++
			d.waiting = nil
			return nil
		}
		for name, to := range map[string]*string{"model_name": &d.model, "dataset_name": &d.dataset, "split": &d.split} {
			if text := fields[name]; len(text) > 0 {
				if err := json.Unmarshal(text, to); err != nil {
					return bad(name, quote(string(text)), "a string")
				}
			}
		}
		return d.flush()
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	return d.keep(r)
}

// list reads records up to the closing bracket; the opening one was read.
func (d *document) list(dec *json.Decoder, source *capped) error {
	for dec.More() {
		source.left = recordLimit
		var r record
		if err := dec.Decode(&r); err != nil {
			return err
		}
		if err := d.keep(r); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// keep checks a record; of its texts it keeps length and hash.
func (d *document) keep(r record) error {
	d.n++
	p, err := r.parse()
	if err == nil {
		d.nulls += map[bool]int{true: 1}[p.answer.score != p.answer.score]
		if p.about.id == "" {
			p.about.id = strconv.Itoa(d.n)
		}
		d.waiting = append(d.waiting, p)
		return nil
	}
	d.n-- // failed counts from the records that are through
	return err
}

func (r *record) parse() (p parsed, err error) {
	p.model, p.dataset, p.split = cmp.Or(r.ModelName, r.Model), cmp.Or(r.DatasetName, r.Dataset), r.Split
	query := r.Query
	if len(query) == 0 {
		query = r.Prompt
	}
	if len(query) == 0 || string(query) == "null" {
		return p, bad("origin_query", "missing", "the question")
	}
	var text string
	if json.Unmarshal(query, &text) != nil {
		text = string(query) // a list or object: its JSON
	}
	h := fnv.New64a()
	io.WriteString(h, text)
	p.about = about{id: strings.Trim(string(r.Index), `"`), hash: h.Sum64(), chars: float32(utf8.RuneCountInString(text))}
	nan := float32(math.NaN())
	p.answer = oneAnswer{score: nan, cost: nan, output: nan}
	switch text := string(r.Score); text {
	case "":
		return p, bad("score", "missing", "a score from 0 to 1")
	case "null":
	default:
		var e *trace.Error
		if p.answer.score, e = textCell(strings.Trim(text, `"`)).score("score"); e != nil {
			e.Expected = "a score from 0 to 1"
			return p, e
		}
	}
	for _, x := range []struct {
		field string
		from  *float64
		to    *float32
	}{{"cost", r.Cost, &p.answer.cost}, {"completion_tokens", r.Output, &p.answer.output}} {
		if x.from == nil {
			continue
		}
		if !(*x.from >= 0 && *x.from < 1e12) {
			return p, bad(x.field, fmt.Sprint(*x.from), "a number of at least 0")
		}
		*x.to = float32(*x.from)
	}
	return p, nil
}

// flush files what was read under its names.
func (d *document) flush() error {
	file := int32(len(d.files) - 1)
	for i := range d.waiting {
		p := &d.waiting[i]
		model := cmp.Or(p.model, d.model)
		if model == "" {
			return bad("model_name", "missing", "the model's name in the document, in each record, or as the name of its folder: DATASET/SPLIT/MODEL/TIME.json")
		}
		p.about.dataset, p.about.split, p.about.file = cmp.Or(p.dataset, d.dataset), cmp.Or(p.split, d.split), file
		m, known := d.number[model]
		if !known {
			m = int32(len(d.models))
			d.number[model] = m
			d.models = append(d.models, model)
		}
		key := p.about.dataset + "\x00" + p.about.split + "\x00" + p.about.id
		q, known := d.question[key]
		if !known {
			q = int32(len(d.about))
			d.question[key] = q
			d.about = append(d.about, p.about)
		} else if d.about[q].hash != p.about.hash {
			return bad("origin_query", "another question than "+p.about.id+" of dataset "+quote(p.about.dataset)+" in "+d.files[d.about[q].file],
				"the same index for the same question")
		}
		d.newest[[3]string{p.about.dataset, p.about.split, model}] = file
		p.answer.question, p.answer.model, p.answer.file = q, m, file
		d.answers = append(d.answers, p.answer)
	}
	d.waiting = d.waiting[:0]
	return nil
}

// finish makes the table of the questions that every model answered. Of several
// files of a model on a dataset the last by name counts, as the publisher's
// loader takes the latest.
func (rs *records) finish(o *Outcomes) error {
	n, m := len(rs.about), len(rs.models)
	if n == 0 {
		return &trace.Error{File: o.File, Problem: "nothing but demo runs", Expected: "results of whole datasets"}
	}
	if n*m > maxAnswers {
		return &trace.Error{File: o.File, Problem: fmt.Sprintf("%d questions by %d models are too many", n, m), Expected: fmt.Sprintf("at most %d answers", maxAnswers)}
	}
	at := make([]int32, n*m) // of each answer, its number from 1
	older, costs, outputs := 0, false, true
	for i := range rs.answers {
		a := &rs.answers[i]
		q := &rs.about[a.question]
		if rs.newest[[3]string{q.dataset, q.split, rs.models[a.model]}] != a.file {
			older++
			continue
		}
		cell := &at[int(a.question)*m+int(a.model)]
		if *cell != 0 {
			return &trace.Error{File: rs.files[a.file], Problem: "question " + q.id + " of dataset " + quote(q.dataset) + " is answered twice by " + rs.models[a.model],
				Expected: "one record a question and model"}
		}
		*cell = int32(i + 1)
		costs = costs || a.cost == a.cost
		outputs = outputs && a.output == a.output
	}
	if older > 0 {
		o.note("%d records left out: a later file has the same model and dataset", older)
	}
	if rs.demos > 0 {
		o.note("%d files left out: demo runs", rs.demos)
	}
	if rs.nulls > 0 {
		o.note("%d scores are null and count as 0", rs.nulls)
	}
	return rs.table(o, at, costs, outputs)
}

func (rs *records) table(o *Outcomes, at []int32, costs, outputs bool) error {
	m := len(rs.models)
	b := newBuilder(&layout{features: []feature{{named: named{name: "query_chars"}}}, groups: []named{{"dataset", none}}})
	b.t.Models = rs.models
	answered := make([]int, m)
	for q := range rs.about {
		row := at[q*m : (q+1)*m]
		complete := true
		for i, a := range row {
			if a != 0 {
				answered[i]++
			}
			complete = complete && a != 0 && (!costs || rs.answers[a-1].cost == rs.answers[a-1].cost)
		}
		if complete {
			rs.row(b, q, row, costs, outputs)
		}
	}
	if left := len(rs.about) - b.t.Questions(); left > 0 {
		least := 0
		for i, n := range answered {
			if n < answered[least] {
				least = i
			}
		}
		text := fmt.Sprintf("%d of %d questions left out: not every model has an answer with a cost (%s has the fewest, %d)", left, len(rs.about), rs.models[least], answered[least])
		if left == len(rs.about) {
			return &trace.Error{File: o.File, Problem: text, Expected: "questions that all models answered: leave out models that did not run on all datasets"}
		}
		o.note("%s", text)
	}
	o.Questions = b.finish(&Outcomes{})
	return nil
}

func (rs *records) row(b *builder, q int, row []int32, costs, outputs bool) {
	for _, i := range row {
		a := &rs.answers[i-1]
		if a.score != a.score {
			a.score = 0
		}
		b.t.Score = append(b.t.Score, a.score)
		if costs {
			b.t.Cost = append(b.t.Cost, a.cost)
		}
		if outputs {
			b.t.Answer = append(b.t.Answer, a.output)
		}
	}
	x := &rs.about[q]
	b.t.ID = append(b.t.ID, x.id)
	b.t.Value = append(b.t.Value, x.chars)
	b.label(0, x.dataset)
	part, err := partOf(x.split)
	if err != nil {
		part = 0 // the publisher's splits have other names too
	}
	b.t.Part = append(b.t.Part, part)
}
