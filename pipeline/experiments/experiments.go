// Package experiments holds the built-in experiment files.
//
// Each is an ordinary experiment file, embedded in the program; its name is
// the file's without .yaml, its summary the file's first line, a comment; one
// that needs flags has them in a comment of its own, see Needs:
//
//	for _, name := range experiments.Names() {
//		fmt.Println(name, experiments.Summary(name))
//	}
//	data, ok := experiments.Read("quickstart")
//
// A new one is one file in this folder.
package experiments

import (
	"embed"
	"strings"
)

//go:embed *.yaml
var files embed.FS

const extension = ".yaml"

// Names returns the built-in experiments, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("experiments: the embedded folder cannot be read: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), extension)
	}
	return names
}

// Read returns the text of a built-in experiment; ok is false when there is
// none of that name.
func Read(name string) (data []byte, ok bool) {
	data, err := files.ReadFile(name + extension)
	return data, err == nil
}

// needs begins the line of a built-in experiment that says which flags it needs.
const needs = "# needs: "

// Needs returns the flags without which a built-in experiment cannot run, such
// as where a file is that is not part of the program; "" when it needs none.
func Needs(name string) string {
	data, _ := Read(name)
	for line := range strings.Lines(string(data)) {
		if flags, ok := strings.CutPrefix(line, needs); ok {
			return strings.TrimSpace(flags)
		}
	}
	return ""
}

// Expects reports whether a built-in experiment has expectations, which
// reproduce checks.
func Expects(name string) bool {
	data, _ := Read(name)
	return strings.Contains("\n"+string(data), "\nexpectations:")
}

// Summary returns the first line of a built-in experiment without its comment
// mark, or "" when there is none of that name.
func Summary(name string) string {
	data, _ := Read(name)
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, "#"))
}
