package workload

// Entry is a generator by name.
type Entry struct {
	Name, Summary, Source string
	New                   func() Generator
}

// Generators lists the generators.
func Generators() []Entry { return generators }

var generators = []Entry{
	{"tool-use", "tool instructions and a question, after ToolBench", "Preble (2025), table 1 and appendix A", func() Generator { return new(ToolUse) }},
	{"embodied-agent", "attempts at a task, step by step, after ALFWorld", "Preble (2025), table 1 and appendix A", func() Generator { return new(Embodied) }},
	{"programming", "samples of programming problems, after APPS", "Preble (2025), table 1 and appendix A", func() Generator { return new(Programming) }},
	{"video-qa", "questions about videos, after NExT-QA", "Preble (2025), table 1 and appendix A", func() Generator { return new(VideoQA) }},
	{"long-documents", "questions about long documents, after LooGLE", "Preble (2025), table 1 and appendix A", func() Generator { return new(LongDocuments) }},
	{"mixture", "several generators at once, each with its share", "section components of the item", func() Generator { return new(Mixture) }},
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
