package outcomes

import (
	"slices"
	"strings"
)

const (
	costEnding   = "|total_cost"
	answerEnding = "|model_response"
)

// routerBench is the format of RouterBench's data.
var routerBench = Format{
	Name:    "routerbench",
	Summary: "scores, answers and costs of eleven models on 30,000 prompts (RouterBench), CSV or Parquet",
	Source: "huggingface.co/datasets/withmartian/routerbench; Hu et al., RouterBench, 2024. It is published as a Python pickle, which is not read: " +
		"pandas.read_pickle('routerbench_0shot.pkl').to_parquet('routerbench_0shot.parquet')",
	Columns: "sample_id, eval_name (group), prompt (its length in characters), a column a model (score 0..1), " +
		"MODEL|total_cost (dollars), optional MODEL|model_response (its length in characters)",
	Level: "question",
	matches: func(names []string) bool {
		return has(names, "sample_id", "eval_name") && slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, costEnding) })
	},
	table: readRouterBench,
}

func readRouterBench(r rows, _ Source, o *Outcomes) error {
	names := r.names()
	for _, name := range []string{"sample_id", "eval_name"} {
		if !has(names, name) {
			return at(r, o.File, missing(name, names))
		}
	}
	l := &layout{id: slices.Index(names, "sample_id"), part: none, groups: []named{{"eval_name", slices.Index(names, "eval_name")}}}
	for i, name := range names {
		model, ok := strings.CutSuffix(name, costEnding)
		if !ok {
			continue
		}
		m := modelColumns{name: model, score: slices.Index(names, model), cost: i, answer: slices.Index(names, model+answerEnding)}
		if m.score == none {
			return at(r, o.File, missing(model, names))
		}
		l.models = append(l.models, m)
	}
	l.evenAnswers()
	if i := slices.Index(names, "prompt"); i != none {
		l.features = []feature{{named{"prompt_chars", i}, true}}
	}
	return l.read(r, o)
}
