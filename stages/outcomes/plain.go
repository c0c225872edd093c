package outcomes

import (
	"slices"
	"strings"
)

// plain is the format for what no one else publishes.
var plain = Format{
	Name:    "plain",
	Summary: "a row a question and a column a model, CSV or Parquet, such as a DuckDB query writes",
	Source:  "this program's own names",
	Columns: "question (or question_id, id, row), a column a model (score 0..1); optional MODEL|cost (dollars), split (train, test), prompt (its length), " +
		"dataset, subject, cluster, domain, category and what ends in _group (groups), what ends in _chars, _tokens or _score (features); " +
		"the fields models, features and groups say otherwise",
	Level: "question",
	matches: func(names []string) bool {
		return slices.ContainsFunc(idNames, func(id string) bool { return has(names, id) })
	},
	table: readPlain,
}

var (
	idNames        = []string{"question", "question_id", "id", "row"}
	groupNames     = []string{"dataset", "subject", "cluster", "domain", "category"}
	featureEndings = []string{"_chars", "_tokens", "_score"}
)

func readPlain(r rows, s Source, o *Outcomes) error {
	names := r.names()
	for _, want := range slices.Concat(s.Models, s.Features, s.Groups) {
		if !has(names, want) {
			return at(r, o.File, missing(want, names))
		}
	}
	l := &layout{id: none, part: none}
	var models, costs []string
	for i, name := range names {
		switch {
		case slices.Contains(s.Models, name):
			models = append(models, name)
		case slices.Contains(s.Features, name):
			l.features = append(l.features, feature{named{name, i}, false})
		case slices.Contains(s.Groups, name):
			l.groups = append(l.groups, named{name, i})
		case strings.HasSuffix(name, "|cost"):
			costs = append(costs, name)
		case l.id == none && slices.Contains(idNames, name):
			l.id = i
		case name == "split":
			l.part = i
		case name == "prompt":
			l.features = append(l.features, feature{named{"prompt_chars", i}, true})
		case slices.Contains(groupNames, name) || strings.HasSuffix(name, "_group"):
			l.groups = append(l.groups, named{name, i})
		case slices.ContainsFunc(featureEndings, func(e string) bool { return strings.HasSuffix(name, e) }):
			l.features = append(l.features, feature{named{name, i}, false})
		case len(s.Models) == 0 && name != "":
			models = append(models, name)
		}
	}
	for _, m := range models {
		c := modelColumns{m, slices.Index(names, m), none, none}
		if len(costs) > 0 {
			if c.cost = slices.Index(names, m+"|cost"); c.cost == none {
				return at(r, o.File, missing(m+"|cost", names))
			}
		}
		l.models = append(l.models, c)
	}
	for _, c := range costs {
		if !slices.Contains(models, strings.TrimSuffix(c, "|cost")) && len(s.Models) == 0 {
			return at(r, o.File, missing(strings.TrimSuffix(c, "|cost"), names))
		}
	}
	o.note("models are the columns %s", list(models))
	return l.read(r, o)
}
