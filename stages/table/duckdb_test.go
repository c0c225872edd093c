//go:build duckdb && cgo

package table

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duckdb/duckdb-go/v2"

	"switchyard/sim/lru"
	"switchyard/stages/stats"
)

// duck opens a database whose relative paths start at dir.
func duck(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	duckExec(t, db, "SET file_search_path = "+literal(dir))
	return db
}

func duckExec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// DuckDB gives each column the type and the comment of the dictionary, finds
// the rows of the footers, and the values that were written.
func TestDuckDBReadsWhatWeWrite(t *testing.T) {
	dir := t.TempDir()
	s := makeStudy(rand.New(rand.NewPCG(10, 1)), 12, 2500)
	s.scatter(t, rand.New(rand.NewPCG(10, 2)), dir, 0, s.keys)
	c := compactWith(t, dir, s.place, shape{batch: 512, group: 2048, bytes: 200_000}, windowBytes)
	if c.Files < 2 {
		t.Fatalf("%d files", c.Files)
	}
	factors := []Factor{{Name: "factor_0", Numeric: true}, {Name: "factor_4"}}
	if err := WriteViews(dir, []Schema{samples.Schema()}, factors); err != nil {
		t.Fatal(err)
	}
	db := duck(t, dir)
	data := contents(t, dir)[ViewsName]
	duckExec(t, db, data)

	rows, err := db.Query("SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = 'samples' ORDER BY column_index")
	if err != nil {
		t.Fatal(err)
	}
	want := append([]Column(nil), samples.Schema().Columns...)
	want = append(want, Column{Name: "factor_0", Type: "DOUBLE"}, Column{Name: "factor_4", Type: "VARCHAR"})
	n := 0
	for ; rows.Next(); n++ {
		var name, typ, comment string
		if err := rows.Scan(&name, &typ, &comment); err != nil {
			t.Fatal(err)
		}
		w := want[n]
		if name != w.Name || typ != w.Type || w.Doc != "" && comment != w.describe() || comment == "" {
			t.Errorf("column %d is %s %s (%s), expected %+v", n, name, typ, comment, w)
		}
	}
	if n != len(want) || rows.Err() != nil {
		t.Fatalf("%d columns, %v, expected %d", n, rows.Err(), len(want))
	}
	equalSamples(t, duckRows(t, db, "samples"), s.table())
	flattened(t, db, s.table())
	footers(t, db, c.Rows)
}

// duckRows decodes a view of samples by DuckDB.
func duckRows(t *testing.T, db *sql.DB, view string) []sample {
	t.Helper()
	var names []string
	for _, c := range samples.Schema().Columns {
		names = append(names, c.Name)
	}
	rows, err := db.Query("SELECT " + strings.Join(names, ", ") + " FROM " + view)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []sample
	for rows.Next() {
		var s sample
		var ids, tokens, tags duckdb.Composite[[]any]
		var factors duckdb.OrderedMap
		err := rows.Scan(&s.Cell, &s.Request, &s.Router, &s.Label, &s.WaitUs, &s.DoneUs, &s.Ratio, &s.Maybe, &s.Small, &s.Hit,
			&s.Byte, &s.Turn, &s.Big, &ids, &tokens, &tags, &factors, &s.Note, &s.Flag, &s.Negative)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ids.Get() {
			s.Ids = append(s.Ids, x.(int64))
		}
		for _, x := range tokens.Get() {
			s.Tokens = append(s.Tokens, x.(int32))
		}
		for _, x := range tags.Get() {
			s.Tags = append(s.Tags, x.(string))
		}
		for i, key := range factors.Keys() {
			if s.Factors == nil {
				s.Factors = map[string]string{}
			}
			if i > 0 && factors.Keys()[i-1].(string) >= key.(string) {
				t.Fatalf("keys %v are not sorted", factors.Keys())
			}
			s.Factors[key.(string)] = factors.Values()[i].(string)
		}
		all = append(all, s)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return all
}

// flattened compares the columns that the view makes of factors with the map.
func flattened(t *testing.T, db *sql.DB, want []sample) {
	t.Helper()
	rows, err := db.Query("SELECT factor_0, factor_4 FROM samples")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var number sql.NullFloat64
		var text sql.NullString
		if err := rows.Scan(&number, &text); err != nil {
			t.Fatal(err)
		}
		w0, ok0 := want[i].Factors["factor_0"]
		w4, ok4 := want[i].Factors["factor_4"]
		if number.Valid != ok0 || ok0 && fmt.Sprint(number.Float64) != w0 || text.Valid != ok4 || text.String != w4 {
			t.Fatalf("row %d has the factors %v %v, expected %v", i, number, text, want[i].Factors)
		}
	}
}

// footers compares what DuckDB finds in the footers with what was written.
func footers(t *testing.T, db *sql.DB, rows int64) {
	t.Helper()
	var n int64
	if err := db.QueryRow("SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata('samples/part-*.parquet')").Scan(&n); err != nil || n != rows {
		t.Fatalf("footers hold %d rows, %v, expected %d", n, err, rows)
	}
	var schema string
	err := db.QueryRow("SELECT DISTINCT value::VARCHAR FROM parquet_kv_metadata('samples/part-*.parquet') WHERE key = 'schema'").Scan(&schema)
	if err != nil || schema != "samples/v1" {
		t.Fatalf("footers say schema %q, %v", schema, err)
	}
}

// Parts can be read while a run goes on, and an empty table has its columns.
func TestDuckDBReadsPartsAndEmptyTables(t *testing.T) {
	dir := t.TempDir()
	s := makeStudy(rand.New(rand.NewPCG(11, 1)), 3, 50)
	writePart(t, samples, dir, 0, 0, s.rows, s.keys...)
	if err := samples.Write(dir, nil, testProvenance); err != nil {
		t.Fatal(err)
	}
	db := duck(t, dir)
	var parts, finished int
	query := fmt.Sprintf("SELECT (SELECT count(*) FROM %s), (SELECT count(*) FROM %s)",
		literal(filepath.Join(partsFolder, "samples-*.parquet")), literal("samples/"+finishedPattern))
	if err := db.QueryRow(query).Scan(&parts, &finished); err != nil || parts != len(s.table()) || finished != 0 {
		t.Fatalf("%d and %d rows, %v, expected %d and 0", parts, finished, err, len(s.table()))
	}
}

// The functions of views.sql agree with the statistics of the house.
func TestMacros(t *testing.T) {
	db := duck(t, t.TempDir())
	duckExec(t, db, EmptyViews([]Schema{samples.Schema()}, []Factor{{Name: "swept", Numeric: true}}))
	duckExec(t, db, "CREATE TABLE pairs (n INTEGER, a DOUBLE, b DOUBLE)")
	random := rand.New(rand.NewPCG(11, 1))
	for _, n := range []int{2, 3, 10, 31, 32, 200} {
		var a, b []float64
		for range n {
			x := random.NormFloat64()
			a, b = append(a, 3+x+random.NormFloat64()), append(b, 6+x)
			duckExec(t, db, fmt.Sprintf("INSERT INTO pairs VALUES (%d, %v, %v)", n, a[len(a)-1], b[len(b)-1]))
		}
		var lo, hi, ratioLo, ratioHi sql.NullFloat64
		err := db.QueryRow(fmt.Sprintf("SELECT ci_lo(a), ci_hi(a), ratio_lo(a, b), ratio_hi(a, b) FROM pairs WHERE n = %d", n)).Scan(&lo, &hi, &ratioLo, &ratioHi)
		if err != nil {
			t.Fatal(err)
		}
		_, in := stats.Interval(a, 0.95)
		ratio := stats.Fieller(a, b, 0.95)
		near := func(what string, got sql.NullFloat64, want float64, exists bool) {
			if got.Valid != exists || exists && math.Abs(got.Float64-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%d rows: %s is %v, expected %v (%v)", n, what, got, want, exists)
			}
		}
		near("ci_lo", lo, in.Lo, true)
		near("ci_hi", hi, in.Hi, true)
		near("ratio_lo", ratioLo, ratio.Lo, ratio.Shape == stats.Bounded)
		near("ratio_hi", ratioHi, ratio.Hi, ratio.Shape == stats.Bounded)
	}
	for _, c := range []float64{0, 0.5, 10, 41.7, 150, 299, 300, 1000} {
		var hits float64
		if err := db.QueryRow(fmt.Sprintf("SELECT che_hit_rate(zipf_shares(300, 1.1), %v)", c)).Scan(&hits); err != nil {
			t.Fatal(err)
		}
		if want := lru.HitRate(lru.Zipf(300, 1.1), c); math.Abs(hits-want) > 1e-9 {
			t.Errorf("che_hit_rate of %v items is %v, expected %v", c, hits, want)
		}
	}
	var none sql.NullFloat64
	if err := db.QueryRow("SELECT coalesce(ci_lo(a), ratio_hi(a, b)) FROM (SELECT 1.0 AS a, 2.0 AS b)").Scan(&none); err != nil || none.Valid {
		t.Errorf("one row has an interval: %v, %v", none, err)
	}
}
