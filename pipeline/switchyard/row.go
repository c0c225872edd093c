package main

import (
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"switchyard/stages/table"
)

// printRow writes the only row of a table, or the first of a cell that has
// several: a column a line with its unit, those that are NULL left out.
func printRow[T any](w io.Writer, t *table.Table[T], dir string) error {
	rows, err := t.Read(dir)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("table %s in %s has no rows, expected those of the cell", t.Name, dir)
	}
	var lines [][]string
	values := fieldsOf(reflect.ValueOf(rows[0]))
	for i, column := range t.Schema().Columns {
		if text, ok := valueText(values[i]); ok {
			lines = append(lines, []string{column.Name, text, column.Unit})
		}
	}
	if err := aligned(w, "", lines); err != nil || len(rows) == 1 {
		return err
	}
	_, err = fmt.Fprintf(w, "and %d more rows of the cell in table %s\n", len(rows)-1, t.Name)
	return err
}

// fieldsOf lists the columns of a row, those of embedded structs in their place.
func fieldsOf(row reflect.Value) (fields []reflect.Value) {
	for i := range row.NumField() {
		if row.Type().Field(i).Anonymous {
			fields = append(fields, fieldsOf(row.Field(i))...)
		} else {
			fields = append(fields, row.Field(i))
		}
	}
	return fields
}

// valueText writes a value of a row; ok is false for NULL and for nothing.
func valueText(v reflect.Value) (text string, ok bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "", false
		}
		return valueText(v.Elem())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', 6, 64), true
	case reflect.Map:
		var parts []string
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprintf("%v=%v", key, v.MapIndex(key)))
		}
		sort.Strings(parts)
		return strings.Join(parts, " "), len(parts) > 0
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, fmt.Sprint(v.Index(i)))
		}
		return strings.Join(parts, "; "), len(parts) > 0
	}
	text = fmt.Sprint(v)
	return text, text != ""
}
