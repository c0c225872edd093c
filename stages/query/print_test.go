package query

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var someColumns = []column{{name: "router"}, {name: "n", number: true}, {name: "mean", number: true}, {name: "factors"}}

func number(f float64) value { return value{kind: float, float: f, bits: 64} }
func word(s string) value    { return value{kind: text, text: s} }
func whole(s string) value   { return value{kind: integer, text: s} }

var someRows = [][]value{
	{word("cache-aware"), whole("12"), number(1234567.891), {kind: object, keys: []string{"rate", "a\"b"}, items: []value{word("4"), number(math.NaN())}}},
	{word("it's, \"odd\"\n<x>"), whole("-7"), number(0.30000000000000004), {kind: list, items: []value{whole("1"), {}, {kind: boolean, text: "true"}}}},
	{word(""), {}, number(math.NaN()), {}},
	{{}, whole("170141183460469231731687303715884105727"), number(math.Inf(-1)), {kind: list}},
}

func print(t *testing.T, format string, columns []column, rows [][]value) string {
	t.Helper()
	var b strings.Builder
	w := bufio.NewWriter(&b)
	p := newPrinter(format, true, w)
	err := p.begin(columns)
	for _, row := range rows {
		err = errors.Join(err, p.row(row))
	}
	if err = errors.Join(err, p.end(), w.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTable(t *testing.T) {
	want := strings.Join([]string{
		`router                                                      n       mean  factors`,
		`--------------------  ---------------------------------------  ---------  ---------------------------`,
		`cache-aware                                                12    1234568  {"rate": "4", "a\"b": null}`,
		`it's, "odd"\n<x>                                           -7        0.3  [1, null, true]`,
		`                                                         NULL        NaN  NULL`,
		`NULL                  170141183460469231731687303715884105727  -Infinity  []`,
		`(4 rows)`, ``,
	}, "\n")
	got := print(t, "table", someColumns, someRows)
	if squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	lines := strings.Split(got, "\n")
	end := strings.Index(lines[0], "n       mean") + 1
	for _, line := range lines[2:6] {
		if c := line[end-1]; c == ' ' {
			t.Errorf("numbers are not right-aligned at %d: %q", end, line)
		}
	}
}

// squeeze makes runs of blanks and dashes one.
func squeeze(s string) string {
	for _, c := range []string{" ", "-"} {
		for strings.Contains(s, c+c) {
			s = strings.ReplaceAll(s, c+c, c)
		}
	}
	return s
}

func TestTableOfManyRows(t *testing.T) {
	rows := make([][]value, measured+5)
	for i := range rows {
		rows[i] = []value{whole(strconv.Itoa(i))}
	}
	lines := strings.Split(strings.TrimSpace(print(t, "table", someColumns[1:2], rows)), "\n")
	if len(lines) != len(rows)+3 || lines[len(lines)-1] != "(10005 rows)" || strings.TrimSpace(lines[len(lines)-2]) != "10004" {
		t.Fatalf("%d lines, the last %q", len(lines), lines[len(lines)-2:])
	}
}

func TestSeparatedReadsBack(t *testing.T) {
	for format, comma := range map[string]rune{"csv": ',', "tsv": '\t'} {
		got := print(t, format, someColumns, someRows)
		r := csv.NewReader(strings.NewReader(got))
		r.Comma = comma
		records, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%s: %v in\n%s", format, err, got)
		}
		if len(records) != 5 || records[2][0] != someRows[1][0].text || records[2][2] != "0.30000000000000004" ||
			records[3][1] != "" || records[3][2] != "NaN" || records[4][2] != "-Infinity" {
			t.Errorf("%s reads back as %q", format, records)
		}
	}
	if got := print(t, "csv", someColumns[:1], [][]value{{{}}, {word("")}, {word("NULL")}}); got != "router\nNULL\n\"\"\n\"NULL\"\n" {
		t.Errorf("one column: %q", got)
	}
}

func TestJSONReadsBack(t *testing.T) {
	got := print(t, "json", someColumns, someRows)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(got), &rows); err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	if len(rows) != 4 || rows[0]["n"] != 12.0 || rows[1]["mean"] != 0.30000000000000004 || rows[2]["mean"] != nil || rows[1]["router"] != someRows[1][0].text ||
		rows[0]["factors"].(map[string]any)["rate"] != "4" || len(rows[1]["factors"].([]any)) != 3 || rows[3]["router"] != nil {
		t.Errorf("reads back as %v", rows)
	}
	if got := print(t, "json", someColumns, nil); got != "[\n]\n" {
		t.Errorf("no rows: %q", got)
	}
}

func TestRounded(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.5: "0.5", 1.0 / 3: "0.333333", 2e6 / 3: "666667", 1e9 / 7: "142857143", 123.456789: "123.457",
		-99999.96: "-100000", 1.5e-7: "1.5e-07", 1e20: "1e+20", 0.00012345678: "0.000123457", 30: "30", 0.9999999: "1",
	} {
		if got := number(x).rounded(); got != want {
			t.Errorf("%v prints as %s, expected %s", x, got, want)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][3]string{
		"expected one of": {dir, "SELECT 1", "xml"},
		"is empty":        {dir, " ", "csv"},
		"no views.sql":    {dir, "SELECT 1", "csv"},
	} {
		err := Run(t.Context(), args[0], args[1], Options{Format: args[2]}, os.Stderr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

func TestSearchPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a,b [c]*")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	root, done, err := searchPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(root, ",[*") {
		t.Fatalf("search path %q", root)
	}
	if target, err := os.Readlink(root); err != nil || target != dir {
		t.Fatalf("leads to %q, %v", target, err)
	}
	done()
	if _, err := os.Lstat(filepath.Dir(root)); err == nil {
		t.Fatal("the link stays")
	}
}

// A table stops where nobody reads on, and says so; one of just as many rows is
// whole.
func TestLongTables(t *testing.T) {
	for _, c := range []struct {
		rows    int
		all     bool
		printed int
		last    string
	}{
		{measured, false, measured, "(10000 rows)\n"},
		{measured + 1, false, measured, "(the first 10000 rows: all of them come with --all, or faster with --format csv)\n"},
		{measured + 1, true, measured + 1, "(10001 rows)\n"},
	} {
		var b strings.Builder
		w := bufio.NewWriter(&b)
		p := newPrinter("table", c.all, w)
		err := p.begin(someColumns[:1])
		for i := 0; i < c.rows && err == nil; i++ {
			err = p.row([]value{whole(strconv.Itoa(i))})
		}
		if c.printed < c.rows != errors.Is(err, errEnough) {
			t.Errorf("%d rows, all %v: %v", c.rows, c.all, err)
		}
		if err := errors.Join(p.end(), w.Flush()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n") - 3; n != c.printed || !strings.HasSuffix(b.String(), c.last) {
			t.Errorf("%d rows, all %v: %d printed, expected %d and %q", c.rows, c.all, n, c.printed, c.last)
		}
	}
}
