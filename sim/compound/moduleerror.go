package compound

import "fmt"

// ModuleError is what is wrong with one module of a graph, so that whoever read
// the graph can say where that stands.
type ModuleError struct {
	Module string // "" where the graph as a whole is meant
	Field  string // as in the tags of Step and Custom: reads, rule, models, output
	Text   string // names the module
}

func (e *ModuleError) Error() string { return e.Text }

// wrong is an error of a module's field.
func wrong(module, field, format string, args ...any) error {
	return &ModuleError{Module: module, Field: field, Text: fmt.Sprintf(format, args...)}
}
