package trace

import (
	"math"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// cells are the values of one Parquet column in the current row: one, or those
// of a list. Whole numbers come in whatever type a query gave them: integers
// of all widths, and the floating-point numbers that sums and divisions yield.
type cells struct {
	name   string
	found  bool
	leaf   parquet.LeafColumn
	take   func(parquet.Value) (int64, bool)
	values []parquet.Value
}

// open checks a column's type.
func (c *cells) open(name string, list, text bool, leaf parquet.LeafColumn) *Error {
	*c = cells{name: name, found: true, leaf: leaf}
	plain := leaf.MaxRepetitionLevel == 0 && len(leaf.Path) == 1
	if leaf.MaxRepetitionLevel > 1 || len(leaf.Path) > 3 || !plain && !(list && leaf.MaxRepetitionLevel == 1) || plain && list && !text {
		want := "a plain column"
		if list {
			want = "a list"
		}
		return bad(name, "of type "+describe(leaf), want)
	}
	if text {
		if kind := leaf.Node.Type().Kind(); kind != parquet.ByteArray {
			return bad(name, "of type "+describe(leaf), "VARCHAR[]")
		}
		return nil
	}
	if c.take = taker(leaf.Node.Type()); c.take == nil {
		want := "whole numbers"
		switch {
		case strings.HasSuffix(name, "_us"):
			want += " of microseconds: write epoch_us(...)"
		case name == "session":
			want += ": write dense_rank() over (order by session)"
		}
		return bad(name, "of type "+describe(leaf), want)
	}
	return nil
}

func describe(leaf parquet.LeafColumn) string {
	s := leaf.Node.Type().String()
	if leaf.MaxRepetitionLevel > 0 {
		s += strings.Repeat("[]", leaf.MaxRepetitionLevel)
	}
	return s
}

// taker returns the conversion to a whole number, nil for types that are none.
func taker(t parquet.Type) func(parquet.Value) (int64, bool) {
	unsigned := false
	if logical := t.LogicalType(); logical != nil && logical.Value != nil {
		switch l := logical.Value.(type) {
		case *format.IntType:
			unsigned = !l.IsSigned
		case *format.DecimalType:
			if l.Scale != 0 {
				return nil
			}
		default: // dates and times, whose units differ
			return nil
		}
	}
	switch t.Kind() {
	case parquet.Int32:
		if unsigned {
			return func(v parquet.Value) (int64, bool) { return int64(uint32(v.Int32())), true }
		}
		return func(v parquet.Value) (int64, bool) { return int64(v.Int32()), true }
	case parquet.Int64: // of unsigned ids the bits count; as numbers, those above 2^63-1 are out of all bounds
		return func(v parquet.Value) (int64, bool) { return v.Int64(), true }
	case parquet.Float:
		return func(v parquet.Value) (int64, bool) { return exact(float64(v.Float())) }
	case parquet.Double:
		return func(v parquet.Value) (int64, bool) { return exact(v.Double()) }
	}
	return nil
}

// exact converts a whole number that a float64 holds exactly.
func exact(x float64) (int64, bool) {
	return int64(x), x == math.Trunc(x) && math.Abs(x) < exactUs
}

// whole returns the value of a plain column; ok is false for NULL and where the
// file lacks the column.
func (c *cells) whole() (v int64, ok bool, err error) {
	if len(c.values) == 0 || c.values[0].IsNull() {
		return 0, false, nil
	}
	v, err = c.number(c.values[0])
	return v, err == nil, err
}

// wholes appends the values of a list. The one NULL that stands for an absent
// or empty list is defined less deeply than a NULL inside a list.
func (c *cells) wholes(to []int64) ([]int64, error) {
	for _, v := range c.values {
		if v.IsNull() {
			if c.leaf.Node.Optional() && v.DefinitionLevel() == c.leaf.MaxDefinitionLevel-1 {
				return nil, bad(c.name, "a list with NULL", "whole numbers")
			}
			continue
		}
		n, err := c.number(v)
		if err != nil {
			return nil, err
		}
		to = append(to, n)
	}
	return to, nil
}

func (c *cells) number(v parquet.Value) (int64, error) {
	n, ok := c.take(v)
	if !ok {
		x := v.Double()
		if c.leaf.Node.Type().Kind() == parquet.Float {
			x = float64(v.Float())
		}
		return 0, bad(c.name, strconv.FormatFloat(x, 'g', -1, 64), "a whole number")
	}
	return n, nil
}
