package workload

// Entry is a generator by name.
type Entry struct {
	Name, Summary, Source string
	New                   func() Generator
}

// Generators lists the generators.
func Generators() []Entry { return generators }

var generators = []Entry{
	{"tool-use", "tool instructions and a question, after ToolBench", "Preble, table 1 and appendix A", func() Generator { return new(ToolUse) }},
}

// FindGenerator returns the generator of that name.
func FindGenerator(name string) (Entry, bool) {
	for _, g := range generators {
		if g.Name == name {
			return g, true
		}
	}
	return Entry{}, false
}
