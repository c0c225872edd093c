package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 500, batchRows, batchRows + 1, 2*batchRows + 17} {
		dir := t.TempDir()
		rows := makeSamples(1, 0, n)
		if err := samples.Write(dir, rows, testProvenance); err != nil {
			t.Fatal(err)
		}
		got, err := samples.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		equalSamples(t, got, rows)
	}
}

func TestReadOfNothing(t *testing.T) {
	if _, err := samples.Read(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, expected fs.ErrNotExist", err)
	}
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{100, 3} {
		rows := makeSamples(2, 0, n)
		if err := samples.Write(dir, rows, testProvenance); err != nil {
			t.Fatal(err)
		}
		got, err := samples.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		equalSamples(t, got, rows)
	}
	if files := contents(t, dir); len(files) != 1 {
		t.Fatalf("%d files are left, expected one", len(files))
	}
}

// Go visits the entries of a map in a new order each time; the bytes must not
// show it.
func TestBytesAreRepeatable(t *testing.T) {
	rows := makeSamples(3, 0, 3000)
	var first string
	for range 4 {
		dir := t.TempDir()
		if err := samples.Write(dir, rows, testProvenance); err != nil {
			t.Fatal(err)
		}
		data := contents(t, dir)["samples/part-0000.parquet"]
		if first == "" {
			first = data
		}
		if data != first || data == "" {
			t.Fatal("two writings of the same rows differ")
		}
	}
}

func TestFooterMetadata(t *testing.T) {
	dir := t.TempDir()
	if err := samples.Write(dir, makeSamples(4, 0, 10), testProvenance); err != nil {
		t.Fatal(err)
	}
	f, err := open(filepath.Join(dir, "samples", "part-0000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for key, want := range map[string]string{"experiment": "test", "schema": "samples/v1", "tool": "switchyard"} {
		if got, _ := f.Lookup(key); got != want {
			t.Errorf("footer has %s=%q, expected %q", key, got, want)
		}
	}
}

func TestOutdatedTableIsNotRead(t *testing.T) {
	dir := t.TempDir()
	if err := samples.Write(dir, makeSamples(5, 0, 10), testProvenance); err != nil {
		t.Fatal(err)
	}
	next := New[sample]("samples", "Rows with every type of column.")
	next.Version = 2
	if _, err := next.Read(dir); !errors.Is(err, errOutdated) {
		t.Fatalf("error %v, expected that of another version", err)
	}
	type wider struct {
		sample
		More int32 `parquet:"more" doc:"a new column"`
	}
	if _, err := New[wider]("samples", "Wider.").Read(dir); !errors.Is(err, errOutdated) {
		t.Fatalf("error %v, expected that of other columns", err)
	}
}

func TestBadRowStructs(t *testing.T) {
	mustPanic := func(name, want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if r := recover(); r == nil || !strings.Contains(r.(string), want) {
				t.Errorf("%s: panic %v, expected one about %q", name, r, want)
			}
		}()
		f()
	}
	type noDoc struct {
		A int32 `parquet:"a"`
	}
	type split struct {
		A float64 `parquet:"a,split" doc:"x"`
	}
	type optional struct {
		A float64 `parquet:"a,optional" doc:"x"`
	}
	type upper struct {
		A float64 `parquet:"Name" doc:"x"`
	}
	type delta struct {
		A *int64 `parquet:"a,delta" doc:"x"`
	}
	type unsized struct {
		A int `parquet:"a" doc:"x"`
	}
	type twice struct {
		A int32 `parquet:"a" doc:"x"`
		B int32 `parquet:"a" doc:"x"`
	}
	type hidden struct {
		a int32 `parquet:"a" doc:"x"`
	}
	_ = hidden{a: 1}
	mustPanic("no doc", "no doc tag", func() { New[noDoc]("t", "d") })
	mustPanic("split", "split", func() { New[split]("t", "d") })
	mustPanic("optional", "pointer", func() { New[optional]("t", "d") })
	mustPanic("upper", "lower-case", func() { New[upper]("t", "d") })
	mustPanic("unsized", "type int", func() { New[unsized]("t", "d") })
	mustPanic("delta", "plain integers", func() { New[delta]("t", "d") })
	mustPanic("twice", "two columns", func() { New[twice]("t", "d") })
	mustPanic("hidden", "not exported", func() { New[hidden]("t", "d") })
	mustPanic("table", "doc sentence", func() { New[sample]("t", "") })
}

func TestSchema(t *testing.T) {
	s := samples.Schema()
	want := map[string]string{
		"cell": "INTEGER", "request": "BIGINT", "router": "VARCHAR", "done_us": "BIGINT NULL", "ratio": "DOUBLE",
		"small": "FLOAT", "hit": "BOOLEAN", "byte_value": "UTINYINT", "turn": "SMALLINT", "big": "UBIGINT",
		"segment_ids": "BIGINT[]", "segment_tokens": "INTEGER[]", "tags": "VARCHAR[]", "factors": "MAP(VARCHAR, VARCHAR)",
		"note": "VARCHAR NULL", "negative": "TINYINT",
	}
	for name, typ := range want {
		c, ok := s.Column(name)
		got := c.Type
		if c.Nullable {
			got += " NULL"
		}
		if !ok || got != typ {
			t.Errorf("column %s is %q, expected %q", name, got, typ)
		}
	}
	if c, _ := s.Column("wait_us"); c.Unit != "us" || c.Symbol != "W" || c.describe() != "time in the queue [us], W" {
		t.Errorf("column wait_us is %+v", c)
	}
}

func TestViews(t *testing.T) {
	dir := t.TempDir()
	if err := samples.Write(dir, makeSamples(6, 0, 10), testProvenance); err != nil {
		t.Fatal(err)
	}
	factors := []Factor{{Name: "factor_4", Numeric: true}, {Name: "it's"}, {Name: "Router"}}
	if err := WriteViews(dir, []Schema{samples.Schema(), narrows.Schema()}, factors); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, ViewsName))
	if err != nil {
		t.Fatal(err)
	}
	sql := string(data)
	for _, want := range []string{
		`CREATE OR REPLACE VIEW "samples" AS`,
		`TRY_CAST(factors['factor_4'] AS DOUBLE) AS "factor_4"`,
		`factors['it''s'] AS "it's"`,
		`read_parquet('samples/part-*.parquet', union_by_name = true, hive_partitioning = false)`,
		`COMMENT ON COLUMN "samples"."label" IS 'free text, with ''quotes''';`,
		`COMMENT ON COLUMN "samples"."wait_us" IS 'time in the queue [us], W';`,
	} {
		if !strings.Contains(sql, want) {
			t.Errorf("%s lacks %s:\n%s", ViewsName, want, sql)
		}
	}
	for _, unwanted := range []string{"narrows", `AS "Router"`, dir} {
		if strings.Contains(sql, unwanted) {
			t.Errorf("%s has %s", ViewsName, unwanted)
		}
	}
}

func TestDataPackage(t *testing.T) {
	dir := t.TempDir()
	if err := samples.Write(dir, makeSamples(7, 0, 10), testProvenance); err != nil {
		t.Fatal(err)
	}
	if err := WriteDataPackage(dir, "My Study", []Schema{samples.Schema(), narrows.Schema()}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, DataPackageName))
	if err != nil {
		t.Fatal(err)
	}
	var p dataPackage
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "my-study" || len(p.Resources) != 1 {
		t.Fatalf("package %q with %d resources, expected my-study with one", p.Name, len(p.Resources))
	}
	r := p.Resources[0]
	if len(r.Schema.Fields) != len(samples.Schema().Columns) || len(r.Path) != 1 || r.Path[0] != "samples/part-0000.parquet" {
		t.Fatalf("resource %+v", r)
	}
	for _, f := range r.Schema.Fields {
		c, _ := samples.Schema().Column(f.Name)
		if f.Description != c.Doc || f.Unit != c.Unit || (f.Constraints == nil) != c.Nullable {
			t.Errorf("field %+v does not match column %+v", f, c)
		}
	}
}

func TestDictionary(t *testing.T) {
	var b bytes.Buffer
	if err := WriteDictionary(&b, []Schema{samples.Schema(), narrows.Schema()}, 0); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Schema{samples.Schema(), narrows.Schema()} {
		for _, c := range s.Columns {
			if !strings.Contains(b.String(), "  "+c.Name+" ") {
				t.Errorf("the dictionary lacks column %s:\n%s", c.Name, b.String())
			}
		}
	}
}

// The dictionary keeps to a terminal's width and says the same in it.
func TestDictionaryInATerminal(t *testing.T) {
	long := Schema{Name: "long", Columns: []Column{{Name: "x", Type: "DOUBLE", Doc: strings.Repeat("what a column means ", 10)}}}
	words := func(width int) []string {
		var b strings.Builder
		if err := WriteDictionary(&b, []Schema{long}, width); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); width > 0 && i > 2 && n > width {
				t.Errorf("line of %d columns in %d: %s", n, width, line)
			}
		}
		words := strings.Fields(b.String())
		slices.Sort(words)
		return words
	}
	wide := words(0)
	for _, width := range []int{60, 80, 200} {
		if narrow := words(width); !slices.Equal(narrow, wide) {
			t.Errorf("in %d columns: %q, expected %q", width, narrow, wide)
		}
	}
}
