package experiment

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"switchyard/sim/param"
)

// position is where a node stands.
type position struct {
	file         string
	line, column int // 0 in options
}

type kind int

const (
	scalar kind = iota
	list
	mapping
)

// node is one value of a file or an option. Its path is set by place once the
// tree is complete.
type node struct {
	kind    kind
	value   any    // of a scalar: nil, bool, int64, uint64, float64 or string
	raw     string // of a scalar: as written
	quoted  bool   // of a scalar: text whatever it looks like
	items   []*node
	entries []entry
	at      position
	path    string

	// A mapping that the file leaves out stands where its parent stands.
	absent bool
}

type entry struct {
	key   string
	at    position
	value *node
}

// get returns a mapping's value under key, or nil.
func (n *node) get(key string) *node {
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// put sets a mapping's value under key, in place or at the end.
func (n *node) put(key string, value *node) {
	for i := range n.entries {
		if n.entries[i].key == key {
			n.entries[i].value = value
			n.entries[i].at = value.at
			return
		}
	}
	n.entries = append(n.entries, entry{key: key, at: value.at, value: value})
}

// place gives n and everything under it their paths.
func (n *node) place(path string) {
	n.path = path
	for i, item := range n.items {
		item.place(path + "[" + strconv.Itoa(i) + "]")
	}
	for _, e := range n.entries {
		e.value.place(join(path, e.key))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// maps reports whether n is a list with a mapping in it: named variants.
func (n *node) maps() bool {
	return n.kind == list && slices.ContainsFunc(n.items, func(item *node) bool { return item.kind == mapping })
}

// text returns n in one line, as it could be written.
func (n *node) text() string {
	switch n.kind {
	case list:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = item.text()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		parts := make([]string, len(n.entries))
		for i, e := range n.entries {
			parts[i] = e.key + ": " + e.value.text()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.raw
}

// wrong returns the error that n should have been something else.
func (n *node) wrong(expected string) *Error {
	text := []rune(n.text())
	if len(text) > 60 {
		text = append(text[:57], []rune("...")...)
	}
	return &Error{File: n.at.file, Line: n.at.line, Column: n.at.column, Path: n.path, Value: string(text), Expected: expected}
}

// missing returns the error that the mapping n lacks a key.
func (n *node) missing(key, expected string) *Error {
	return &Error{File: n.at.file, Line: n.at.line, Column: n.at.column, Path: join(n.path, key), Problem: "missing", Expected: expected}
}

// unknown returns the error that nobody knows an entry of the mapping n.
func (n *node) unknown(e entry, known []string) *Error {
	expected := "one of " + strings.Join(known, ", ")
	if len(known) == 0 {
		expected = "no keys here"
	}
	return &Error{File: e.at.file, Line: e.at.line, Column: e.at.column, Path: join(n.path, e.key), Problem: "unknown key",
		Expected: expected, Nearest: param.Nearest(e.key, known)}
}

// quotes says what to do about a text that would be something else without its
// quotes; "" where there is nothing to do.
func (n *node) quotes() string {
	if !n.quoted {
		return ""
	}
	switch resolve(n.raw).(type) {
	case string, nil:
		return ""
	}
	return ", without quotes"
}

// plain returns a value as param.Set takes it; n holds no mapping.
func (n *node) plain() any {
	if n.kind == list {
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.plain()
		}
		return out
	}
	return n.value
}

// label returns a value as it stands in a factor: text bare, numbers in their
// shortest form, so that .25 and 0.250 are one.
func (n *node) label() string {
	if text, ok := n.value.(string); ok {
		return text
	}
	return param.Format(n.plain())
}

var (
	wholeText  = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*(_[0-9]+)*)$`)
	numberText = regexp.MustCompile(`^[-+]?([0-9]+(_[0-9]+)*(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	zeroText   = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
	basedText  = regexp.MustCompile(`^0(x[0-9a-fA-F]+|o[0-7]+)$`)
)

// resolve returns the value of an unquoted scalar after the core schema of
// YAML 1.2, with groups of digits (1_000) added, and without numbers of a
// leading zero, which versions of YAML read as octal or not: they are text.
// The library's own resolution takes 1e3 for text and 010 for eight.
func resolve(text string) any {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	digits := strings.ReplaceAll(text, "_", "")
	switch {
	case wholeText.MatchString(text):
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 10, 64); err == nil {
			return n
		}
	case basedText.MatchString(text):
		if n, err := strconv.ParseUint(text, 0, 64); err == nil {
			if n <= math.MaxInt64 {
				return int64(n)
			}
			return n
		}
		return text
	case zeroText.MatchString(text) || !numberText.MatchString(text):
		return text
	}
	x, _ := strconv.ParseFloat(digits, 64) // out of range: an infinity
	return x
}
