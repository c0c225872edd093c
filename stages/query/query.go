// Package query answers SQL over the tables of an experiment's folder with an
// embedded DuckDB.
//
// Run opens an empty database in memory, lets relative paths start at the
// folder, loads the folder's views.sql, runs the SQL and prints the result of
// its last statement. Nothing that a query creates or changes outlives it, and
// the tables on disk are only read; a COPY ... TO writes where it says.
// DuckDB may not fetch extensions from the network.
//
//	err := query.Run(ctx, "out/quickstart", "SELECT router, avg(ttft_mean_us) FROM cells GROUP BY ALL", query.Options{}, os.Stdout)
//
// Formats:
//
//   - table: aligned columns for people; numbers right-aligned, floats rounded
//     to six digits (never before the decimal point), NULL as NULL. After
//     10,000 rows it says that there are more, unless all are asked for.
//   - csv, tsv: RFC 4180 with a header, separated by comma or tab; NULL is an
//     empty field (in a result of one column, where that would be an empty
//     line, NULL), an empty text is "".
//   - json: one array of objects, one a line; numbers are numbers, lists
//     arrays, maps and structs objects; JSON has no NaN and no infinity, which
//     come as null.
//
// In all but table, floats have the shortest digits that read back to the same
// float.
//
// DuckDB needs cgo and is therefore behind the build tag duckdb. Without it Run
// returns ErrNoDuckDB.
package query

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoDuckDB says that this program was built without DuckDB, and what to do.
var ErrNoDuckDB = errors.New("this program was built without DuckDB; with a C compiler present, build it by: " +
	"CGO_ENABLED=1 go build -tags duckdb ./pipeline/switchyard (./run.sh does so where it finds one); " +
	"or query the folder with DuckDB itself: cd DIR && duckdb -init views.sql")

// Formats lists the formats that Run knows, the default first.
func Formats() []string { return []string{"table", "csv", "tsv", "json"} }

// viewsName is the file in an experiment's folder that defines its views.
const viewsName = "views.sql"

// Options say how a result is printed.
type Options struct {
	Format string // one of Formats; "" means table
	All    bool   // print all rows of format table, which stops after 10,000; other formats print all in any case
}

// Run runs sql over the tables of the experiment in dir and writes the result
// to w.
func Run(ctx context.Context, dir, sql string, o Options, w io.Writer) error {
	format := cmp.Or(o.Format, Formats()[0])
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("format %q, expected one of %s", format, strings.Join(Formats(), ", "))
	}
	if strings.TrimSpace(sql) == "" {
		return errors.New("the query is empty, expected SQL such as \"SELECT * FROM summary\" or \"SHOW TABLES\"")
	}
	views, err := os.ReadFile(filepath.Join(dir, viewsName))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s has no %s: expected the folder of an experiment that has run, such as out/quickstart", dir, viewsName)
	}
	if err != nil {
		return err
	}
	root, done, err := searchPath(dir)
	if err != nil {
		return err
	}
	defer done()
	b := bufio.NewWriter(w)
	if err := run(ctx, root, string(views), sql, newPrinter(format, o.All, b)); err != nil {
		b.Flush() // rows before the error
		return err
	}
	return b.Flush()
}

// searchPath returns the folder as DuckDB's file_search_path can hold it. That
// is a comma-separated list whose entries are patterns, so a folder whose path
// has one of their characters is reached through a link.
func searchPath(dir string) (root string, done func(), err error) {
	done = func() {}
	if root, err = filepath.Abs(dir); err != nil || !strings.ContainsAny(root, ",*?[]{}") {
		return root, done, err
	}
	temp, err := os.MkdirTemp("", "switchyard-query-")
	if err != nil {
		return "", done, err
	}
	done = func() { os.RemoveAll(temp) }
	link := filepath.Join(temp, "experiment")
	if err := os.Symlink(root, link); err != nil {
		done()
		return "", func() {}, err
	}
	return link, done, nil
}
