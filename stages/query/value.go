package query

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// kind tells how a value is printed.
type kind uint8

const (
	null kind = iota
	boolean
	integer // any number whose text is exact: integers and decimals
	float
	text
	list
	object
)

// value is one value of a result, freed from the driver's types.
type value struct {
	kind  kind
	text  string  // of boolean, integer and text
	float float64 // of float
	bits  int     // of float: 32 or 64
	items []value // of list and object
	keys  []string
}

// column is one column of a result.
type column struct {
	name   string
	number bool // right-aligned in tables
}

// digits prints a float with the shortest digits that read back to it.
func (v value) digits() string {
	switch {
	case math.IsNaN(v.float):
		return "NaN"
	case math.IsInf(v.float, 1):
		return "Infinity"
	case math.IsInf(v.float, -1):
		return "-Infinity"
	}
	format := byte('f')
	if a := math.Abs(v.float); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e' // the bounds of JSON's canonical form
	}
	return strconv.FormatFloat(v.float, format, -1, v.bits)
}

// rounded prints a float for people: six digits, and all of those before the
// decimal point.
func (v value) rounded() string {
	a := math.Abs(v.float)
	switch {
	case math.IsNaN(v.float) || math.IsInf(v.float, 0) || a == 0:
		return v.digits()
	case a < 1e-4 || a >= 1e15:
		return strconv.FormatFloat(v.float, 'g', 6, 64)
	}
	decimals := max(0, 5-int(math.Floor(math.Log10(a))))
	s := strconv.FormatFloat(v.float, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// plain prints a value as text without quotes; inside lists and objects it is
// JSON, whose NULL is null.
func (v value) plain(number func(value) string) string {
	switch v.kind {
	case null:
		return ""
	case float:
		return number(v)
	case list, object:
		return string(v.appendJSON(nil))
	default:
		return v.text
	}
}

// appendJSON appends the value as JSON.
func (v value) appendJSON(b []byte) []byte {
	switch v.kind {
	case null:
		return append(b, "null"...)
	case boolean, integer:
		return append(b, v.text...)
	case float:
		if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
			return append(b, "null"...)
		}
		return append(b, v.digits()...)
	case list:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendString(b, v.keys[i]), ": "...)
			b = item.appendJSON(b)
		}
		return append(b, '}')
	default:
		return appendString(b, v.text)
	}
}

func appendString(b []byte, s string) []byte {
	var quoted strings.Builder
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return append(b, strings.TrimSuffix(quoted.String(), "\n")...)
}
