package outcomes

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"switchyard/sim/cascade"
	"switchyard/sim/compound"
	"switchyard/stages/trace"
)

// Source says how to read a file; the zero value tells all by itself.
type Source struct {
	Format   string   `yaml:"format" doc:"format of the file; empty: told by its header"`
	Models   []string `yaml:"models" doc:"of formats plain and routellm: the columns that are models; none: told by their names"`
	Features []string `yaml:"features" doc:"of format plain: columns that are numbers known before the call"`
	Groups   []string `yaml:"groups" doc:"of format plain: columns that are labels known before the call"`
	Modules  []string `yaml:"modules" doc:"of format modules: the columns that name each module's model; none: told by their names"`
	Prices   []string `yaml:"prices" unit:"dollars" doc:"of question-level formats: MODEL=DOLLARS a call, one for every model, in place of recorded costs"`
}

// Outcomes is what a file holds: one of Questions, Modules and Averages is set.
type Outcomes struct {
	File      string
	Format    Format
	Questions *cascade.Table     // who answers which question how well
	Modules   *compound.Outcomes // which allocation does
	Averages  *compound.Averages // the same where only means are recorded
	Notes     []string           // what was left out or assumed, a sentence each
}

func (o *Outcomes) note(format string, args ...any) {
	o.Notes = append(o.Notes, o.File+": "+fmt.Sprintf(format, args...))
}

// headBytes is how much of a file is looked at to tell what it is.
const headBytes = 64 << 10

// Open reads a file, or joins the files of a folder: of LLMRouterBench one a
// model and dataset, of the other question-level formats files with the same
// models, whose names become the group file.
func Open(path string, s Source) (*Outcomes, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(path, s)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, s)
}

// Read reads one file; file is its name for errors and, where records do not
// say it, for the model. A source that can seek and read at an offset is read
// in place where it is Parquet; any other Parquet is first read into memory.
func Read(file string, r io.Reader, s Source) (*Outcomes, error) {
	records := newRecords()
	o := &Outcomes{File: file}
	if err := read(file, r, s, o, records); err != nil {
		return nil, err
	}
	if o.Format.table == nil {
		if err := records.finish(o); err != nil {
			return nil, err
		}
	}
	return o, setting("prices", o.price(s.Prices))
}

// price puts prices in place of recorded costs.
func (o *Outcomes) price(list []string) error {
	if len(list) == 0 {
		return nil
	}
	fail := func(problem, expected string) error {
		return &trace.Error{File: o.File, Field: "prices", Problem: problem, Expected: expected}
	}
	if o.Questions == nil {
		return fail("given", "no prices with a module-level table, which has costs of whole allocations")
	}
	dollars := make([]float64, len(o.Questions.Models))
	for i := range dollars {
		dollars[i] = math.NaN()
	}
	for _, text := range list {
		at := strings.LastIndexByte(text, '=')
		if at < 0 {
			return fail(quote(text), "MODEL=DOLLARS")
		}
		m, err := o.Questions.Model(strings.TrimSpace(text[:at]))
		if err != nil {
			return fmt.Errorf("%s: prices: %w", o.File, err)
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(text[at+1:]), 64)
		if err != nil || !(x >= 0 && x <= mostDollars) {
			return fail(quote(text), "MODEL=DOLLARS with a number from 0 to a million")
		}
		if !math.IsNaN(dollars[m]) {
			return fail(quote(text)+" beside another price of "+o.Questions.Models[m], "one price a model")
		}
		dollars[m] = x
	}
	for m, x := range dollars {
		if math.IsNaN(x) {
			return fail("without "+o.Questions.Models[m], "a price for every model")
		}
	}
	return o.Questions.SetPrices(dollars)
}

// read adds JSON records to records, and fills o from a table.
func read(file string, r io.Reader, s Source, o *Outcomes, records *records) (err error) {
	buffered := bufio.NewReaderSize(r, headBytes)
	head, err := buffered.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: read: %w", file, err)
	}
	whole, _ := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("%s: gzip: %w", file, err)
		}
		whole, buffered = nil, bufio.NewReaderSize(z, headBytes)
		if head, err = buffered.Peek(headBytes); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: gzip, fetch the file again: %w", file, err)
		}
	}
	if err := refuse(file, head); err != nil {
		return err
	}
	var table rows
	switch text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))); {
	case bytes.HasPrefix(head, []byte("PAR1")):
		at, size, err := readerAt(file, buffered, whole)
		if err != nil {
			return err
		}
		if table, err = openParquet(file, at, size); err != nil {
			return err
		}
	case text[0] == '{' || text[0] == '[':
		if o.Format, err = choose(s.Format, nil, true); err != nil {
			return asked(s, place(err, file, 0, false))
		}
		return records.read(file, buffered)
	default:
		if table, err = openCSV(file, buffered); err != nil {
			return err
		}
	}
	if o.Format, err = choose(s.Format, table.names(), false); err != nil {
		return asked(s, place(err, file, 1, false))
	}
	return o.Format.table(table, s, o)
}

// asked blames the format that was asked for, where one was.
func asked(s Source, err error) error {
	if s.Format == "" {
		return err
	}
	return setting("format", err)
}

func readerAt(file string, r io.Reader, whole interface {
	io.ReaderAt
	io.Seeker
}) (io.ReaderAt, int64, error) {
	if whole != nil {
		if size, err := whole.Seek(0, io.SeekEnd); err == nil { // a pipe has the method but cannot seek
			return whole, size, nil
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: read: %w", file, err)
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

// refuse names what is published in forms that are not read.
func refuse(file string, head []byte) error {
	fail := func(problem, expected string) error {
		return &trace.Error{File: file, Problem: problem, Expected: expected}
	}
	switch {
	case len(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))) == 0:
		return fail("file is empty", "outcomes in one of the formats "+list(Names()))
	case len(head) > 1 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5:
		return fail("file is a Python pickle, which can run code when it is read", "Parquet or CSV: where you trust the file, "+
			"convert it in Python with pandas.read_pickle('x.pkl').to_parquet('x.parquet')")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return fail("file is a zip archive", "the file inside: unpack it first")
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return fail("file is compressed by zstd", "gzip or no compression: unpack it first")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return fail("file is text in UTF-16", "UTF-8: convert it first")
	}
	return nil
}

// endings are those of files that a folder is searched for.
var endings = []string{".json", ".jsonl", ".csv", ".parquet"}

func openFolder(folder string, s Source) (*Outcomes, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains(endings, filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, &trace.Error{File: folder, Problem: "folder has no files of outcomes", Expected: "files that end in " + list(endings)}
	}
	all, records := &Outcomes{File: folder}, newRecords()
	records.folder = folder
	var parts []*Outcomes
	for _, path := range files {
		o := &Outcomes{File: path}
		if err := readFile(path, s, o, records); err != nil {
			return nil, err
		}
		if all.Format.Name == "" {
			all.Format = o.Format
		}
		if o.Format.Name != all.Format.Name {
			return nil, &trace.Error{File: path, Problem: "file is of format " + o.Format.Name, Expected: all.Format.Name + " as the others of the folder"}
		}
		all.Notes = append(all.Notes, o.Notes...)
		parts = append(parts, o)
	}
	if all.Format.table == nil {
		err = records.finish(all)
	} else {
		all.Questions, err = join(parts)
	}
	if err != nil {
		return nil, err
	}
	return all, setting("prices", all.price(s.Prices))
}

func readFile(path string, s Source, o *Outcomes, records *records) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(path, f, s, o, records)
}
