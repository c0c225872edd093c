//go:build duckdb && cgo

package query

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// available says that DuckDB is inside.
const available = true

// connect makes a new database whose relative paths start at root and loads
// views into it.
func connect(ctx context.Context, root, views string) (conn *sql.Conn, done func() error, err error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, nil, fmt.Errorf("open DuckDB: %w", err)
	}
	if conn, err = db.Conn(ctx); err != nil { // the settings belong to a connection
		return nil, nil, errors.Join(fmt.Errorf("open DuckDB: %w", err), db.Close())
	}
	done = func() error { return errors.Join(conn.Close(), db.Close()) }
	setup := "SET autoinstall_known_extensions = false; SET file_search_path = '" + strings.ReplaceAll(root, "'", "''") + "';"
	if _, err := conn.ExecContext(ctx, setup); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("set DuckDB up: %w", err), done())
	}
	if _, err := conn.ExecContext(ctx, views); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("load the views of %s: %w; run the experiment again to write them anew", root, err), done())
	}
	return conn, done, nil
}

// run runs the query in a new database whose relative paths start at root.
func run(ctx context.Context, root, views, query string, p printer) (err error) {
	conn, done, err := connect(ctx, root, views)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return sqlError(ctx, err)
	}
	defer rows.Close()
	if err := printRows(rows, p); err != nil {
		return sqlError(ctx, err)
	}
	return nil
}

// open is Open's connection.
func open(ctx context.Context, root, views string) (session, error) {
	conn, done, err := connect(ctx, root, views)
	if err != nil {
		return nil, err
	}
	return &connection{conn, done}, nil
}

type connection struct {
	conn *sql.Conn
	done func() error
}

func (c *connection) close() error { return c.done() }

func (c *connection) do(ctx context.Context, statements string) error {
	if _, err := c.conn.ExecContext(ctx, statements); err != nil {
		return sqlError(ctx, err)
	}
	return nil
}

func (c *connection) ask(ctx context.Context, query string, most int) (*Answer, error) {
	rows, err := c.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, sqlError(ctx, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, sqlError(ctx, err)
	}
	answer := &Answer{}
	raw, scan := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		answer.Columns = append(answer.Columns, t.Name())
		scan[i] = &raw[i]
	}
	for len(answer.Rows) < most && rows.Next() {
		if err := rows.Scan(scan...); err != nil {
			return nil, sqlError(ctx, err)
		}
		row := make([]any, len(types))
		for i, x := range raw {
			row[i] = convert(x, types[i].DatabaseTypeName()).simple()
		}
		answer.Rows = append(answer.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return nil, sqlError(ctx, err)
	}
	return answer, nil
}

// reads has DuckDB write the query's statements as JSON, which it does of
// SELECT alone; what it cannot parse has no statements.
func (c *connection) reads(ctx context.Context, query string) (bool, error) {
	const count = `select case j->>'error_type' when 'parser' then 1
		else coalesce(json_array_length(j->'statements'), 0) end
		from (select json_serialize_sql(?::varchar) as j)`
	var statements int
	if err := c.conn.QueryRowContext(ctx, count, query).Scan(&statements); err != nil {
		return false, sqlError(ctx, err)
	}
	return statements == 1, nil
}

// sqlError passes DuckDB's message on as it is: it quotes the query and points
// at the place.
func sqlError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if d := new(duckdb.Error); errors.As(err, &d) {
		return fmt.Errorf("query: %s", d.Msg)
	}
	return fmt.Errorf("query: %w", err)
}

func printRows(rows *sql.Rows, p printer) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	columns := make([]column, len(types))
	for i, t := range types {
		columns[i] = column{name: t.Name(), number: isNumber(t.DatabaseTypeName())}
	}
	if err := p.begin(columns); err != nil {
		return err
	}
	raw, scan, values := make([]any, len(types)), make([]any, len(types)), make([]value, len(types))
	for i := range raw {
		scan[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(scan...); err != nil {
			return err
		}
		for i, x := range raw {
			values[i] = convert(x, types[i].DatabaseTypeName())
		}
		switch err := p.row(values); {
		case errors.Is(err, errEnough):
			return p.end()
		case err != nil:
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return p.end()
}

func isNumber(duckType string) bool {
	switch duckType {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
		"UHUGEINT", "FLOAT", "DOUBLE", "BIGNUM":
		return true
	}
	return strings.HasPrefix(duckType, "DECIMAL") && !strings.HasSuffix(duckType, "]")
}

// convert frees a value from the driver's types. The column's type tells dates
// from timestamps; inside lists and the like it is not known, and "" prints
// the full form.
func convert(x any, duckType string) value {
	switch x := x.(type) {
	case nil:
		return value{}
	case bool:
		return value{kind: boolean, text: strconv.FormatBool(x)}
	case float32:
		return value{kind: float, float: float64(x), bits: 32}
	case float64:
		return value{kind: float, float: x, bits: 64}
	case int8, int16, int32, int64, int, uint8, uint16, uint32, uint64, uint:
		return value{kind: integer, text: fmt.Sprint(x)}
	case *big.Int:
		return value{kind: integer, text: x.String()}
	case duckdb.Decimal:
		return value{kind: integer, text: decimal(x)}
	case string:
		return value{kind: text, text: x}
	case time.Time:
		return value{kind: text, text: moment(x, duckType)}
	case duckdb.Interval:
		return value{kind: text, text: interval(x)}
	case []byte:
		return bytesValue(x, duckType)
	case []any:
		v := value{kind: list}
		for _, item := range x {
			v.items = append(v.items, convert(item, ""))
		}
		return v
	case duckdb.OrderedMap:
		v := value{kind: object}
		for i, item := range x.Values() {
			v.keys = append(v.keys, convert(x.Keys()[i], "").plain(value.digits))
			v.items = append(v.items, convert(item, ""))
		}
		return v
	case map[string]any:
		v := value{kind: object}
		for _, key := range slices.Sorted(maps.Keys(x)) { // the driver loses a struct's order
			v.keys = append(v.keys, key)
			v.items = append(v.items, convert(x[key], ""))
		}
		return v
	case duckdb.Union:
		return convert(x.Value, "")
	case fmt.Stringer:
		return value{kind: text, text: x.String()}
	default:
		return value{kind: text, text: fmt.Sprint(x)}
	}
}

func bytesValue(b []byte, duckType string) value {
	if duckType == "UUID" && len(b) == 16 {
		id := duckdb.UUID(b)
		return value{kind: text, text: id.String()}
	}
	return value{kind: text, text: `\x` + hex.EncodeToString(b)}
}

// decimal prints all digits of the scale, as SQL does: 1.50, not 1.5.
func decimal(d duckdb.Decimal) string {
	digits, sign := new(big.Int).Abs(d.Value).String(), ""
	if d.Value.Sign() < 0 {
		sign = "-"
	}
	scale := int(d.Scale)
	if scale == 0 {
		return sign + digits
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

func moment(t time.Time, duckType string) string {
	switch {
	case duckType == "DATE":
		return t.Format("2006-01-02")
	case strings.HasPrefix(duckType, "TIME") && !strings.HasPrefix(duckType, "TIMESTAMP"):
		return t.Format("15:04:05.999999")
	case duckType == "TIMESTAMP WITH TIME ZONE", duckType == "TIMESTAMPTZ":
		return t.UTC().Format("2006-01-02 15:04:05.999999999Z07:00")
	default:
		return t.Format("2006-01-02 15:04:05.999999999")
	}
}

func interval(i duckdb.Interval) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		unit string
	}{{int64(i.Months), "months"}, {int64(i.Days), "days"}, {i.Micros, "us"}} {
		if p.n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.unit))
		}
	}
	if parts == nil {
		return "0 us"
	}
	return strings.Join(parts, " ")
}
