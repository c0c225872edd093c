package choose

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"switchyard/sim/cascade"
	"switchyard/sim/rng"
	"switchyard/stages/experiment"
	"switchyard/stages/outcomes"
)

var recordedKind = WorldKind{
	Name:    "recorded",
	Summary: "recorded outcomes: which model answered which question how well, for systems of one module, or which assignment did",
	Source:  "files as they are published: `switchyard list outcomes`",
	New:     func() any { return new(Recorded) },
	open:    openRecorded,
}

// Recorded are the parameters of worlds of recorded outcomes.
type Recorded struct {
	File  string  `yaml:"file" required:"true" doc:"file of outcomes, or folder, from the experiment file's folder; ${VAR} is replaced"`
	Test  string  `yaml:"test_file" doc:"outcomes of the same models on other questions, which judge the choice; without, a part of the file does"`
	Share float64 `yaml:"train_share" default:"0.5" min:"0.001" max:"0.999" unit:"share" doc:"questions to choose on, drawn anew in each replication; where the file itself says which they are, it decides"`
	Where string  `yaml:"where" doc:"only the questions with this label, as group=label: dataset=mmlu"`
	outcomes.Source
}

func openRecorded(s experiment.Section, params any) (source, error) {
	p := params.(*Recorded)
	o, err := openOutcomes(s, "file", p)
	if err != nil {
		return nil, err
	}
	if o.Questions == nil {
		for key, given := range map[string]bool{"test_file": p.Test != "", "where": p.Where != ""} {
			if given {
				return nil, s.Errorf(key, "nothing: "+key+" is for files of single models' answers, and this one holds assignments", nil)
			}
		}
		return openModules(s, o, p)
	}
	r := &recordedQuestions{all: o.Questions, share: p.Share, notes: o.Notes}
	if p.Test != "" {
		t, err := openOutcomes(s, "test_file", p)
		switch {
		case err != nil:
			return nil, err
		case t.Questions == nil || strings.Join(t.Questions.Models, ",") != strings.Join(o.Questions.Models, ","):
			return nil, s.Errorf("test_file", "outcomes of the same models in the same order: "+strings.Join(o.Questions.Models, ", "), nil)
		}
		r.test, r.notes = t.Questions, append(r.notes, t.Notes...)
	}
	return r, r.prepare(s, p)
}

func openOutcomes(s experiment.Section, key string, p *Recorded) (*outcomes.Outcomes, error) {
	path, err := s.Path(key)
	if err != nil {
		return nil, err
	}
	o, err := outcomes.Open(path, p.Source)
	var wrong *outcomes.SettingError
	if errors.As(err, &wrong) {
		return nil, s.Errorf(wrong.Key, "what goes with the outcomes: "+err.Error(), nil)
	}
	if err != nil {
		return nil, s.Errorf(key, "readable outcomes: "+err.Error(), nil)
	}
	for i, note := range o.Notes { // where the file lies is no part of the results
		o.Notes[i] = strings.ReplaceAll(note, path, filepath.Base(path))
	}
	return o, nil
}

// recordedQuestions is a world of models that answered each question, for
// systems of one module.
type recordedQuestions struct {
	all, test *cascade.Table // test is nil where a part of all judges
	share     float64
	notes     []string
	digest    string
}

// prepare keeps the questions that are asked for, and sets prices.
func (r *recordedQuestions) prepare(s experiment.Section, p *Recorded) (err error) {
	for _, t := range []**cascade.Table{&r.all, &r.test} {
		if *t == nil {
			continue
		}
		if group, label, ok := strings.Cut(p.Where, "="); p.Where != "" {
			if !ok {
				return s.Errorf("where", "group=label", nil)
			}
			if *t, err = (*t).Where(group, label); err != nil {
				return s.Errorf("where", "a label that the file has: "+err.Error(), nil)
			}
		}
	}
	if r.all.Questions() < 2 && r.test == nil {
		return s.Errorf("file", "two questions or more, of which one judges the choice", nil)
	}
	h := sha256.New()
	for _, t := range []*cascade.Table{r.all, r.test} {
		if t != nil {
			digestTable(h, t)
		}
	}
	r.digest = hex.EncodeToString(h.Sum(nil))
	return nil
}

// digestTable writes all that decides results.
func digestTable(w io.Writer, t *cascade.Table) {
	fmt.Fprintf(w, "%q %q\n", t.Models, t.Features)
	for _, numbers := range []any{t.Score, t.Cost, t.Answer, t.Value} {
		// A hash takes whatever is written to it.
		_ = binary.Write(w, binary.LittleEndian, numbers)
		fmt.Fprintln(w)
	}
	for _, p := range t.Part {
		fmt.Fprint(w, p)
	}
	for _, g := range t.Groups {
		fmt.Fprintf(w, "%q %q %v\n", g.Name, g.Labels, g.Of)
	}
}

func (r *recordedQuestions) key() string { return fmt.Sprintf("%s train_share=%v", r.digest, r.share) }

func (r *recordedQuestions) drawn() bool { return r.test == nil && r.all.Part == nil }

func (r *recordedQuestions) pools() int { return 1 }

func (r *recordedQuestions) able(*system) able {
	return able{scores: true, outcomes: true, example: r.all, free: r.all.Cost == nil}
}

func (r *recordedQuestions) check(sys *system, s experiment.Section) error {
	if n := len(sys.graph.Decisions()); n != 1 {
		return s.Errorf("file", fmt.Sprintf("outcomes of assignments for a system of %d modules: these are of single models, for a system of one such as direct", n), nil)
	}
	return nil
}

func (r *recordedQuestions) names(sys *system) (modules []string, candidates [][]string) {
	return sys.graph.DecisionNames(), [][]string{r.all.Models}
}

func (r *recordedQuestions) pool(sys *system, at sample) (*pool, error) {
	train, test := r.all, r.test
	if test == nil {
		train, test = r.all.Split(r.share, rng.New(at.seed, at.replication, at.name("split")))
	}
	p := &pool{
		train: answered{train}, test: answered{test}, priced: train.Cost != nil, doubts: r.notes,
		outcomes: &recordedOutcomes{train, test}, models: [][]int32{numbers(len(train.Models))},
	}
	p.modules, p.candidates = r.names(sys)
	before, _ := train.Means()
	after, cost := test.Means()
	for k, name := range train.Models {
		a := ability{module: p.modules[0], candidate: name, skill: p.modules[0], train: &before[k], test: &after[k]}
		if p.priced {
			a.cost = &cost[k]
		}
		p.abilities = append(p.abilities, a)
	}
	return p, nil
}

func numbers(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// answered is the world of a table of models' answers, for one module.
type answered struct{ *cascade.Table }

func (a answered) Modules() int { return 1 }

func (a answered) Candidates(int) int { return len(a.Models) }

func (a answered) Scores(alloc []int32, dst []float32) error {
	for q := range dst {
		dst[q] = a.Score[q*len(a.Models)+int(alloc[0])]
	}
	return nil
}

func (a answered) Cost(alloc []int32) (float64, error) {
	if a.Table.Cost == nil {
		return 0, nil
	}
	sum := 0.0
	for at := int(alloc[0]); at < len(a.Table.Cost); at += len(a.Models) {
		sum += float64(a.Table.Cost[at])
	}
	return sum / float64(a.Questions()), nil
}
