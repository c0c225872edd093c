package table

import (
	"fmt"
	"reflect"
	"strings"
)

// Schema describes a table to people: the data dictionary, the views' comments
// and the data package are printed from it.
type Schema struct {
	Name    string
	Doc     string
	Version int
	Columns []Column
}

// Column is one column of a table.
type Column struct {
	Name     string
	Type     string // as DuckDB names it: BIGINT, DOUBLE, VARCHAR, BIGINT[], MAP(VARCHAR, VARCHAR), ...
	Unit     string // us, tokens, share, ...; "" without
	Symbol   string // in formulas, e.g. \bar{T}; "" without
	Doc      string // one line
	Nullable bool
}

// ID returns the schema's name and version as footers hold them: "cells/v1".
func (s Schema) ID() string { return fmt.Sprintf("%s/v%d", s.Name, s.Version) }

// Column returns the column of that name.
func (s Schema) Column(name string) (Column, bool) {
	for _, c := range s.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// mapType is the one map that tables hold: swept factors and the like.
const mapType = "MAP(VARCHAR, VARCHAR)"

// columnsOf derives the columns from a row struct; embedded structs are
// flattened, as parquet-go flattens them.
func columnsOf(t reflect.Type) ([]Column, error) {
	var columns []Column
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			embedded, err := columnsOf(f.Type)
			if err != nil {
				return nil, err
			}
			columns = append(columns, embedded...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		if name == "-" {
			continue
		}
		c, err := columnOf(f, name, options)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

func columnOf(f reflect.StructField, name, options string) (Column, error) {
	switch {
	case !f.IsExported():
		return Column{}, fmt.Errorf(`is not exported; tag it parquet:"-" if it is no column of an embedding struct`)
	case !plainName(name):
		return Column{}, fmt.Errorf("column name %q, expected lower-case letters, digits and underscores", name)
	case f.Tag.Get("doc") == "":
		return Column{}, fmt.Errorf("column %s has no doc tag", name)
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "dict", "delta", "plain":
		case "split":
			return Column{}, fmt.Errorf("column %s is encoded as split, which arrow v17 reads as an empty table; leave floats plain", name)
		case "optional":
			return Column{}, fmt.Errorf("column %s is optional, which turns zeros into NULL; make the field a pointer", name)
		default:
			return Column{}, fmt.Errorf("column %s has the option %q, expected dict, delta or plain", name, option)
		}
	}
	typ, nullable, err := duckType(f.Type)
	if err != nil {
		return Column{}, fmt.Errorf("column %s: %w", name, err)
	}
	if options == "delta" && (nullable || f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map) {
		return Column{}, fmt.Errorf("column %s is encoded as delta, which parquet-go has for plain integers and texts only; leave it out", name)
	}
	return Column{
		Name: name, Type: typ, Nullable: nullable,
		Unit: f.Tag.Get("unit"), Symbol: f.Tag.Get("symbol"), Doc: f.Tag.Get("doc"),
	}, nil
}

// plainName reports whether SQL takes the name without quotes (keywords aside).
func plainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}

var scalarTypes = map[reflect.Kind]string{
	reflect.Bool: "BOOLEAN",
	reflect.Int8: "TINYINT", reflect.Int16: "SMALLINT", reflect.Int32: "INTEGER", reflect.Int64: "BIGINT",
	reflect.Uint8: "UTINYINT", reflect.Uint16: "USMALLINT", reflect.Uint32: "UINTEGER", reflect.Uint64: "UBIGINT",
	reflect.Float32: "FLOAT", reflect.Float64: "DOUBLE", reflect.String: "VARCHAR",
}

// duckType names the type that DuckDB gives to a field's column.
func duckType(t reflect.Type) (name string, nullable bool, err error) {
	if t == reflect.TypeFor[map[string]string]() {
		return mapType, false, nil
	}
	suffix := ""
	switch t.Kind() {
	case reflect.Pointer:
		nullable, t = true, t.Elem()
	case reflect.Slice:
		suffix, t = "[]", t.Elem()
		if t.Kind() == reflect.Uint8 {
			return "", false, fmt.Errorf("type []uint8 would be a BLOB; use a string or a wider integer")
		}
	}
	scalar, ok := scalarTypes[t.Kind()]
	if !ok {
		return "", false, fmt.Errorf("type %s, expected bool, a sized number, string, a pointer to one (nullable), a slice of one, or map[string]string", t)
	}
	return scalar + suffix, nullable, nil
}
