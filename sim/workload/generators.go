package workload

// Entry is a generator by name.
type Entry struct {
	Name    string
	Summary string // one line
	Source  string // paper and section, or other origin
	New     func() Generator
	Notes   string // what is published of it and what is fitted or assumed; may be empty
}

// Generators lists the generators.
func Generators() []Entry { return generators }

var generators = []Entry{
	{"tool-use", "tool instructions and a question, after ToolBench", "Preble (2025), table 1 and appendix A", func() Generator { return new(ToolUse) },
		"published: system prompt, output, sharers; fitted to table 1's other columns: lengths of tool, offer and question, offers that are shared, requests alone"},
	{"embodied-agent", "attempts at a task, step by step, after ALFWorld", "Preble (2025), table 1 and appendix A", func() Generator { return new(Embodied) },
		"published: key portion, output, sharers; fitted: deviation of the key portion, growth and number of steps, requests alone"},
	{"programming", "samples of programming problems, after APPS", "Preble (2025), table 1 and appendix A", func() Generator { return new(Programming) },
		"published: output, prompt; fitted: the system prompt's part of it, samples, requests alone"},
	{"video-qa", "questions about videos, after NExT-QA", "Preble (2025), table 1 and appendix A", func() Generator { return new(VideoQA) },
		"published: prompt, output, sharers; fitted: requests alone, a question in proportion to its video"},
	{"long-documents", "questions about long documents, after LooGLE", "Preble (2025), table 1 and appendix A", func() Generator { return new(LongDocuments) },
		"published: system prompt, prompt, output, sharers; fitted: question, requests alone and their shorter documents"},
	{"lecture-documents", "questions about long documents, Zipf 1.1 over 300", "the lecture", func() Generator { return new(LectureDocuments) }, ""},
	{"lecture-video", "questions about videos, Zipf 1.1 over 600", "the lecture", func() Generator { return new(LectureVideo) }, ""},
	{"lecture-tool", "tool use, Zipf 1.1 over 100", "the lecture", func() Generator { return new(LectureTool) }, ""},
	{"lecture-hot-tool", "tool use, Zipf 1.5 over 100: one tool has 41 %", "the lecture", func() Generator { return new(LectureHotTool) }, ""},
	{"lecture-agent", "chains of 14 steps over 20 groups", "the lecture", func() Generator { return new(LectureAgent) },
		"known: groups, key portion, growth, steps; assumed: deviations, output"},
	{"lecture-programming", "eight samples in a row of each problem", "the lecture", func() Generator { return new(LectureProgramming) },
		"known: mean lengths, samples; assumed: deviations, number and popularity of groups"},
	{"preble-toolbench-even", "ToolBench, all prefixes equally often", "Preble's scripts", func() Generator { return new(PrebleToolbenchEven) },
		"published: prefixes, popularity, limit, system prompt, prompt; fitted: its parts"},
	{"preble-toolbench-zipf", "ToolBench, prefixes by Zipf's law", "Preble's scripts", func() Generator { return new(PrebleToolbenchZipf) },
		"published: prefixes, popularity, limit, system prompt; fitted as for preble-toolbench-even"},
	{"preble-loogle", "LooGLE, outputs of 45 tokens", "Preble's scripts", func() Generator { return new(PrebleLoogle) },
		"published: documents, cut, output, natural numbers of questions; assumed: the question"},
	{"preble-video", "NExT-QA, cropped to 8,192 tokens, popular in proportion to length", "Preble's scripts", func() Generator { return new(PrebleVideo) },
		"published: videos, frames, crop, popularity, output; assumed: the question"},
	{"preble-programming", "APPS behind 2,400 tokens of system prompt, outputs up to 512", "Preble's scripts", func() Generator { return new(PrebleProgramming) },
		"published: problems, system prompt, cap on the output; assumed: deviation of the number of solutions"},
	{"preble-embodied", "ALFWorld conversations that share nothing, outputs of 26 tokens", "Preble's scripts", func() Generator { return new(PrebleEmbodied) },
		"published: conversations, dummy growth, output; lengths as for embodied-agent"},
	{"preble-percent-shared", "prompts of one length with a given share in common", "Preble's scripts", func() Generator { return new(PreblePercentShared) },
		"published: groups, prompt, shares; assumed: output"},
	{"chat", "conversations of several turns with a growing history", "free parameters", func() Generator { return new(Chat) },
		"all lengths are assumed; the answer is as long as in Azure's 2023 conversations"},
	{"prefix-groups", "groups of equal popularity with one prefix each, normal lengths", "free parameters", func() Generator { return new(PrefixGroups) },
		"by default the smaller of two workloads that simulators are compared on"},
	{"mixture", "several generators at once, each with its share", "section components of the item", func() Generator { return new(Mixture) }, ""},
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
