package outcomes

import (
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/param"
	"switchyard/stages/trace"
)

// bad is an error about a field; whoever knows file and line adds them.
func bad(field, problem, expected string) *trace.Error {
	return &trace.Error{Field: field, Problem: problem, Expected: expected}
}

// SettingError is an error about what Source says and not about the file, so
// that whoever wrote the Source can be shown where.
type SettingError struct {
	Key string // of Source, as in its tags
	Err error
}

func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns the error in the file's terms.
func (e *SettingError) Unwrap() error { return e.Err }

// setting blames a key of Source for an error; nil stays nil.
func setting(key string, err error) error {
	if err == nil {
		return nil
	}
	return &SettingError{Key: key, Err: err}
}

// namedColumns checks the columns that a key of Source names.
func namedColumns(r rows, file, key string, wanted []string) error {
	for i, name := range wanted {
		if !has(r.names(), name) {
			return setting(key, at(r, file, missing(name, r.names())))
		}
		if slices.Contains(wanted[:i], name) {
			return setting(key, at(r, file, bad(name, "named twice", "each column once")))
		}
	}
	return nil
}

// quote shortens and quotes a value.
func quote(value string) string {
	const most = 60
	n := 0
	for i := range value {
		if n++; n > most {
			return fmt.Sprintf("%#q", value[:i]+"...")
		}
	}
	return fmt.Sprintf("%#q", value)
}

// missing is the error for a column that the header lacks.
func missing(name string, names []string) *trace.Error {
	expected := "a column of that name; the file has " + list(names)
	if near := param.Nearest(name, names); near != "" {
		expected += "; did you mean " + near + "?"
	}
	return bad(name, "missing", expected)
}

// list joins the first names.
func list(names []string) string {
	const most = 30
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
