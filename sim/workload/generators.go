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
	{"lecture-documents", "questions about long documents, Zipf 1.1 over 300", "the lecture", func() Generator { return new(LectureDocuments) }},
	{"lecture-video", "questions about videos, Zipf 1.1 over 600", "the lecture", func() Generator { return new(LectureVideo) }},
	{"lecture-tool", "tool use, Zipf 1.1 over 100", "the lecture", func() Generator { return new(LectureTool) }},
	{"lecture-hot-tool", "tool use, Zipf 1.5 over 100: one tool has 41 %", "the lecture", func() Generator { return new(LectureHotTool) }},
	{"lecture-agent", "chains of 14 steps over 20 groups", "the lecture", func() Generator { return new(LectureAgent) }},
	{"lecture-programming", "eight samples in a row of each problem", "the lecture", func() Generator { return new(LectureProgramming) }},
	{"preble-toolbench-even", "ToolBench, all prefixes equally often", "Preble's scripts", func() Generator { return new(PrebleToolbenchEven) }},
	{"preble-toolbench-zipf", "ToolBench, prefixes by Zipf's law", "Preble's scripts", func() Generator { return new(PrebleToolbenchZipf) }},
	{"preble-loogle", "LooGLE, outputs of 45 tokens", "Preble's scripts", func() Generator { return new(PrebleLoogle) }},
	{"preble-video", "NExT-QA, cropped to 8,192 tokens, popular in proportion to length", "Preble's scripts", func() Generator { return new(PrebleVideo) }},
	{"preble-programming", "APPS behind 2,400 tokens of system prompt, outputs up to 512", "Preble's scripts", func() Generator { return new(PrebleProgramming) }},
	{"preble-embodied", "ALFWorld conversations that share nothing, outputs of 26 tokens", "Preble's scripts", func() Generator { return new(PrebleEmbodied) }},
	{"preble-percent-shared", "prompts of one length with a given share in common", "Preble's scripts", func() Generator { return new(PreblePercentShared) }},
	{"chat", "conversations of several turns with a growing history", "free parameters", func() Generator { return new(Chat) }},
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
