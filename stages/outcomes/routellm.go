package outcomes

import (
	"slices"
	"strings"
)

// routeLLM is the format of RouteLLM's outcomes of two models: one table of
// all, or the files that are published, one a subject.
var routeLLM = Format{
	Name:    "routellm",
	Summary: "whether a weak and a strong model are right on MMLU and GSM8K (RouteLLM)",
	Source:  "github.com/lm-sys/RouteLLM, routellm/evals; Ong et al., RouteLLM, 2024",
	Columns: "dataset, subject (groups), row, weak_MODEL, strong_MODEL (0 or 1), prompt_chars; or as published, a file a subject (a folder of them is joined): " +
		"prompt (its length in characters) and a column a model with True or False, optional MODEL_response (its length in characters)",
	Level: "question",
	matches: func(names []string) bool {
		return has(names, "dataset", "row") && slices.ContainsFunc(names, isWeak) ||
			has(names, "prompt", "gpt-4-1106-preview") || has(names, "prompt", "mistralai/Mixtral-8x7B-Instruct-v0.1")
	},
	table: readRouteLLM,
}

func isWeak(name string) bool { return strings.HasPrefix(name, "weak_") }

func isStrong(name string) bool { return strings.HasPrefix(name, "strong_") }

func readRouteLLM(r rows, s Source, o *Outcomes) error {
	names := r.names()
	l := &layout{id: slices.Index(names, "row"), part: none}
	for i, name := range names {
		model := isWeak(name) || isStrong(name)
		if len(s.Models) > 0 {
			model = slices.Contains(s.Models, name)
		} else if l.id == none {
			model = name != "" && name != "prompt" && !strings.HasSuffix(name, "_response") && !strings.HasPrefix(name, "Unnamed")
		}
		if model {
			l.models = append(l.models, modelColumns{name, i, none, slices.Index(names, name+"_response")})
		}
	}
	l.evenAnswers()
	if err := namedColumns(r, o.File, "models", s.Models); err != nil {
		return err
	}
	for _, group := range []string{"dataset", "subject"} {
		if i := slices.Index(names, group); i != none {
			l.groups = append(l.groups, named{group, i})
		}
	}
	if i := slices.Index(names, "prompt_chars"); i != none {
		l.features = []feature{{named{"prompt_chars", i}, false}}
	} else if i := slices.Index(names, "prompt"); i != none {
		l.features = []feature{{named{"prompt_chars", i}, true}}
	}
	return l.read(r, o)
}
