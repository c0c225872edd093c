package outcomes

import (
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/cascade"
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
	for _, given := range []struct {
		key   string
		names []string
	}{{"models", s.Models}, {"features", s.Features}, {"groups", s.Groups}} {
		if err := namedColumns(r, o.File, given.key, given.names); err != nil {
			return err
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
	if err := l.read(r, o); err != nil {
		return err
	}
	if n := repeated(o.Questions); n > 0 {
		o.note("%d rows have the name and labels of an earlier row: they count as questions of their own, and may be chosen on and judged by", n)
	}
	return nil
}

// repeated counts the rows of questions that an earlier row has, too.
func repeated(t *cascade.Table) (n int) {
	seen := map[string]bool{}
	for q, id := range t.ID {
		for _, g := range t.Groups {
			id += fmt.Sprint(" ", g.Of[q])
		}
		if seen[id] {
			n++
		}
		seen[id] = true
	}
	return n
}
