package outcomes

import (
	"slices"

	"switchyard/sim/param"
	"switchyard/stages/trace"
)

// Format is one kind of file.
type Format struct {
	Name    string
	Summary string // one line
	Source  string // who publishes it, where
	Columns string // what is read, with units; the rest is passed over
	Level   string // question or module: what it becomes

	matches func(names []string) bool
	table   func(r rows, s Source, o *Outcomes) error // of tabular formats
}

// formats is the registry; detection tries them in this order.
var formats = []Format{routerBench, routeLLM, llmRouter, agentOpt, llmRouterBench, moduleTable, plain}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats) }

// Names returns the names of all formats, in the registry's order.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Find returns the format of a name.
func Find(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// choose finds the format by its name, or by those of the columns or keys.
func choose(given string, names []string, json bool) (Format, error) {
	if given != "" {
		f, ok := Find(given)
		switch {
		case !ok:
			problem := quote(given)
			if near := param.Nearest(given, Names()); near != "" {
				problem += " (did you mean " + near + "?)"
			}
			return f, bad("format", problem, "one of "+list(Names()))
		case json != (f.table == nil):
			return f, bad("format", given, "one that goes with what the file holds: CSV and Parquet are tables, JSON is llmrouterbench")
		}
		return f, nil
	}
	for _, f := range formats {
		if json == (f.table == nil) && f.matches(names) {
			return f, nil
		}
	}
	return Format{}, &trace.Error{Problem: "format cannot be told", Text: list(names),
		Expected: "the columns of one of " + list(Names()) + "; name it in the field format"}
}

// has reports whether all of the wanted names are there.
func has(names []string, wanted ...string) bool {
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return false
		}
	}
	return true
}
