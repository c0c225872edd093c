package outcomes

import "slices"

// llmRouter is the format of the nine-model tables made from LLMRouter's data.
var llmRouter = Format{
	Name:    "llmrouter",
	Summary: "scores of nine open models on 5,608 training and 500 test questions (LLMRouter)",
	Source:  "github.com/ulab-uiuc/LLMRouter, its routing data with a column a model",
	Columns: "row, cluster (group; may be empty), question_chars (characters), a column a model (score 0..1)",
	Level:   "question",
	matches: func(names []string) bool { return has(names, "row", "cluster", "question_chars") },
	table:   readLLMRouter,
}

func readLLMRouter(r rows, _ Source, o *Outcomes) error {
	names := r.names()
	for _, name := range []string{"row", "cluster", "question_chars"} {
		if !has(names, name) {
			return at(r, o.File, missing(name, names))
		}
	}
	l := &layout{
		id: slices.Index(names, "row"), part: none,
		groups:   []named{{"cluster", slices.Index(names, "cluster")}},
		features: []feature{{named{"question_chars", slices.Index(names, "question_chars")}, false}},
	}
	for i, name := range names {
		if name != "row" && name != "cluster" && name != "question_chars" {
			l.models = append(l.models, modelColumns{name, i, none, none})
		}
	}
	return l.read(r, o)
}
