package outcomes

import (
	"fmt"
	"strings"

	"switchyard/sim/param"
	"switchyard/stages/trace"
)

// bad is an error about a field; whoever knows file and line adds them.
func bad(field, problem, expected string) *trace.Error {
	return &trace.Error{Field: field, Problem: problem, Expected: expected}
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
