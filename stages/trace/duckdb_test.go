//go:build duckdb

package trace

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"switchyard/sim/workload"
)

// duck runs a query whose $out stands for a file, and opens the file.
func duck(t *testing.T, query string) *os.File {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := filepath.Join(t.TempDir(), "out.parquet")
	if _, err := db.Exec(strings.ReplaceAll(query, "$out", "'"+out+"'")); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// What DuckDB makes of sums, decimals, NULLs and lists.
func TestDuckDBTypes(t *testing.T) {
	f := duck(t, `copy (
		select epoch_us(timestamp '2024-05-10 00:00:00.25') + 1000 * i as arrival_us,
			sum(20 + i)::hugeint as prompt_tokens, 3::decimal(9, 0) as output_tokens,
			case when i = 2 then 5::utinyint end as session, i::tinyint as turn,
			case i when 0 then null when 1 then [] else [7, 8] end as segment_ids,
			case i when 0 then null when 1 then []::smallint[] else [4, 5]::smallint[] end as segment_tokens,
			case i when 0 then ['a', 'b'] end as tags, 'x' as other, {'a': 1} as more
		from range(3) t(i) group by i order by i desc
	) to $out (format parquet, parquet_version v2)`)
	c, err := Load("f", f, Source{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Request{
		session(req(0, 20, 3), workload.None, 0, "a", "b"),
		session(req(1000, 21, 3), workload.None, 1),
		session(req(2000, 22, 3, seg{ID: 7, Tokens: 4}, seg{ID: 8, Tokens: 5}), 5, 2),
	}
	if got := collect(c); !reflect.DeepEqual(got, want) {
		t.Errorf("\n%+v, expected\n%+v", got, want)
	}
}

// A query that turns Mooncake's file into a table gives the requests that the
// file's own reader gives.
func TestDuckDBMooncake(t *testing.T) {
	data := recorded(t, "mooncake-conversation.jsonl")
	f := duck(t, `copy (
		select timestamp * 1000 as arrival_us, input_length as prompt_tokens, output_length as output_tokens, hash_ids as segment_ids
		from read_json('`+filepath.Join(os.Getenv("SWITCHYARD_DATA"), "traces", "mooncake-conversation.jsonl")+`')
	) to $out`)
	got, err := Load("f", f, Source{BlockTokens: 512}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Load("f", bytes.NewReader(data), Source{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(collect(got), collect(want)) {
		t.Error("the requests differ")
	}
}
