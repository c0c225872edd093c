package table

import (
	"fmt"
	"path/filepath"
	"strings"
)

// ViewsName is the file that WriteViews writes.
const ViewsName = "views.sql"

// factorsColumn is the MAP column that views show as columns too.
const factorsColumn = "factors"

// Factor is a key of a MAP column `factors` that the table's view shows as a
// column of its own.
type Factor struct {
	Name    string
	Numeric bool // every value is a number: the column is DOUBLE, not VARCHAR
}

// EmptyViews returns SQL that makes every table as a view without rows, as
// WriteViews would show it, with the same functions: what a query needs to be
// checked before there are results.
func EmptyViews(schemas []Schema, factors []Factor) string {
	var b strings.Builder
	b.WriteString(macros)
	for _, s := range schemas {
		fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS SELECT ", identifier(s.Name))
		for i, c := range s.Columns {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "NULL::%s AS %s", c.Type, identifier(c.Name))
		}
		for _, f := range ownFactors(s, factors) {
			fmt.Fprintf(&b, ", NULL::%s AS %s", map[bool]string{true: "DOUBLE", false: "VARCHAR"}[f.Numeric], identifier(f.Name))
		}
		b.WriteString(" WHERE false;\n")
	}
	return b.String()
}

// WriteViews writes views.sql: a view a table over the files of its folder,
// with the data dictionary as comments. Paths are relative to the experiment's
// folder; start DuckDB there, or SET file_search_path first. Tables that have
// no file yet get no view, as DuckDB would refuse it. The functions of macros
// come first. Where a table has a
// column `factors`, its view adds a column for each of the factors whose name
// is not a column already.
func WriteViews(dir string, schemas []Schema, factors []Factor) error {
	var b strings.Builder
	b.WriteString("-- Views over the tables of this folder. From inside it: duckdb -init views.sql\n")
	b.WriteString("-- From elsewhere, first: SET file_search_path = 'path/of/this/folder';\n")
	b.WriteString(macros)
	for _, s := range schemas {
		paths, err := finishedPaths(filepath.Join(dir, s.Name))
		if err != nil {
			return err
		}
		if len(paths) > 0 {
			writeView(&b, s, factors)
		}
	}
	if err := (disk{}).writeFile(filepath.Join(dir, ViewsName), []byte(b.String())); err != nil {
		return fmt.Errorf("write %s: %w", ViewsName, err)
	}
	return nil
}

func writeView(b *strings.Builder, s Schema, factors []Factor) {
	own := ownFactors(s, factors)
	fmt.Fprintf(b, "\nCREATE OR REPLACE VIEW %s AS\nSELECT *", identifier(s.Name))
	for _, f := range own {
		value := fmt.Sprintf("%s[%s]", factorsColumn, literal(f.Name))
		if f.Numeric {
			value = fmt.Sprintf("TRY_CAST(%s AS DOUBLE)", value)
		}
		fmt.Fprintf(b, ",\n       %s AS %s", value, identifier(f.Name))
	}
	fmt.Fprintf(b, "\nFROM read_parquet(%s, union_by_name = true, hive_partitioning = false);\n", literal(s.Name+"/"+finishedPattern))
	fmt.Fprintf(b, "COMMENT ON VIEW %s IS %s;\n", identifier(s.Name), literal(s.Doc))
	for _, c := range s.Columns {
		comment(b, s.Name, c.Name, c.describe())
	}
	for _, f := range own {
		comment(b, s.Name, f.Name, fmt.Sprintf("factor %s of the experiment, NULL where a run does not have it", f.Name))
	}
}

func comment(b *strings.Builder, view, column, text string) {
	fmt.Fprintf(b, "COMMENT ON COLUMN %s.%s IS %s;\n", identifier(view), identifier(column), literal(text))
}

// ownFactors returns the factors that need a column; SQL compares names
// without their case.
func ownFactors(s Schema, factors []Factor) []Factor {
	if c, ok := s.Column(factorsColumn); !ok || c.Type != mapType {
		return nil
	}
	taken := map[string]bool{}
	for _, c := range s.Columns {
		taken[strings.ToLower(c.Name)] = true
	}
	var own []Factor
	for _, f := range factors {
		if name := strings.ToLower(f.Name); !taken[name] {
			taken[name] = true
			own = append(own, f)
		}
	}
	return own
}

// describe is a column's line in comments: "mean time to first token [us], \bar{T}".
func (c Column) describe() string {
	text := c.Doc
	if c.Unit != "" {
		text += " [" + c.Unit + "]"
	}
	if c.Symbol != "" {
		text += ", " + c.Symbol
	}
	return text
}

// identifier quotes a name for SQL where that is needed or might be.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal quotes a text for SQL.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
