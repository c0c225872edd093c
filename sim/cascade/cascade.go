package cascade

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

var cascadeEntry = Entry{
	Name:    "cascade",
	Summary: "asks models in order until a scorer trusts the answer; order and thresholds are the best in training under a mean cost",
	Source:  "FrugalGPT (Chen et al., 2023); scorer judge: RouterBench's cascades (Hu et al., 2024), routers/run_cascading_router.py",
	New:     func() Params { return new(Cascade) },
}

// Cascade is FrugalGPT's. For each budget all orders of so many models (or the
// order given) and all thresholds, quantiles of a stage's confidences in
// training, are tried, and the best training quality at a mean cost within
// the budget is kept; of equals the cheaper, then the one found first. A
// threshold at the lowest quantile trusts every answer, so shorter cascades
// are among those tried.
type Cascade struct {
	Sources
	Models    []string  `yaml:"models" doc:"the order of the models; none: all orders of all models of the table"`
	Length    int       `yaml:"length" default:"3" min:"1" max:"4" doc:"models a cascade, where no order is given"`
	Scorer    string    `yaml:"scorer" default:"judge" enum:"judge|logistic|knn" doc:"judge: the recorded score, with errors; else the predicted score of the model, from the question and, where recorded, its answer's length"`
	Error     float64   `yaml:"error" default:"0" min:"0" max:"1" doc:"probability that the judge's confidence is 1 less the score"`
	Ridge     float64   `yaml:"ridge" default:"1" min:"0.000001" max:"1000000" doc:"penalty on squared weights, with scorer: logistic"`
	Neighbour int       `yaml:"neighbours" default:"40" min:"1" max:"10000" doc:"number of nearest questions that count, with scorer: knn"`
	Quantiles int       `yaml:"quantiles" default:"40" min:"1" max:"200" doc:"thresholds tried a stage"`
	Budgets   []float64 `yaml:"budgets" min:"0" unit:"dollars" doc:"mean costs a question; none: settings of them, evenly in logarithms from the cheapest to the dearest model's"`
	Settings  int       `yaml:"settings" default:"20" min:"1" max:"1000" doc:"number of budgets where none are given"`
}

type fittedCascade struct {
	confidence func(*Table) []float32 // [q*models+m]
	plans      []plan
}

// plan is a cascade under a budget. An answer of stage i is taken where its
// confidence is at least thresholds[i], the last stage's always.
type plan struct {
	budget     float64
	order      []int32
	thresholds []float32
}

// Check implements what tags cannot say.
func (p *Cascade) Check() error {
	if len(p.Models) > maxStages {
		return &param.Error{Field: "models", Value: fmt.Sprint(len(p.Models)) + " models", Expected: fmt.Sprintf("at most %d", maxStages)}
	}
	return nil
}

// Suits implements Params.
func (p *Cascade) Suits(t *Table) error {
	if err := ready(t, true); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	if _, err := t.models(p.Models); err != nil || p.Scorer == "judge" {
		return err
	}
	return p.suit(t)
}

// Fit implements Params.
func (p *Cascade) Fit(train *Table, e Env) (Fitted, error) {
	if err := p.Suits(train); err != nil {
		return nil, err
	}
	list, err := train.models(p.Models)
	if err != nil {
		return nil, err
	}
	f := &fittedCascade{}
	if f.confidence, err = p.scorer(train, list, e); err != nil {
		return nil, err
	}
	orders := [][]int32{list}
	if len(p.Models) == 0 {
		length := min(p.Length, len(list))
		if err := p.feasible(len(list), length, train.Questions()); err != nil {
			return nil, err
		}
		orders = permutations(list, length)
	}
	budgets := p.budgets(train, list)
	s := newSearch(train, f.confidence(train), list, p.Quantiles, budgets)
	for _, order := range orders {
		s.try(order)
	}
	if f.plans = s.plans(); len(f.plans) == 0 {
		return nil, &param.Error{Field: "budgets", Value: fmt.Sprint(budgets),
			Expected: fmt.Sprintf("at least %.6g dollars: no cascade costs less in training", s.least())}
	}
	return f, nil
}

// searchLimit bounds the work of a search, in questions and combinations looked
// at: some minutes.
const searchLimit = 1e11

// feasible refuses a search that would not end.
func (p *Cascade) feasible(models, length, questions int) error {
	orders, combinations := 1.0, 1.0
	for i := range length {
		orders *= float64(models - i)
		if i > 0 {
			combinations *= float64(p.Quantiles)
		}
	}
	if orders*(float64(questions)+combinations) > searchLimit {
		return &param.Error{Field: "length", Value: fmt.Sprint(length),
			Expected: fmt.Sprintf("less with %d models, %d questions and %d quantiles, or the order of the models in the field models", models, questions, p.Quantiles)}
	}
	return nil
}

// budgets are rising.
func (p *Cascade) budgets(t *Table, list []int32) []float64 {
	if len(p.Budgets) > 0 {
		b := slices.Clone(p.Budgets)
		slices.Sort(b)
		return b
	}
	_, cost := t.Means()
	lo, hi := math.Inf(1), 0.0
	for _, m := range list {
		lo, hi = min(lo, cost[m]), max(hi, cost[m])
	}
	var b []float64
	for i := range p.Settings {
		share := float64(i+1) / float64(p.Settings)
		if p.Settings > 1 {
			share = float64(i) / float64(p.Settings-1)
		}
		x := lo + float64((hi-lo)*share)
		if lo > 0 {
			x = lo * math.Exp(share*math.Log(hi/lo))
		}
		// The ends are whole sums over the table: leave them their rounding.
		b = append(b, x*(1+1e-9))
	}
	return b
}

// scorer returns the confidences in all models' answers.
func (p *Cascade) scorer(train *Table, list []int32, e Env) (func(*Table) []float32, error) {
	if p.Scorer == "judge" {
		return func(t *Table) []float32 { return judge(t, p.Error, e) }, nil
	}
	var l learner = byLogistic{p.Ridge}
	if p.Scorer == "knn" {
		l = byNeighbours{p.Neighbour}
	}
	encoders, fitted := make([]*encoder, len(list)), make([]predictor, len(list))
	y := make([]float64, train.Questions())
	for i, m := range list {
		var err error
		if encoders[i], err = newEncoder(train, p.Sources, int(m)); err != nil {
			return nil, err
		}
		for q := range y {
			y[q] = float64(train.Score[q*len(train.Models)+int(m)])
		}
		fitted[i] = l.learn(encoders[i].encode(train), encoders[i].total, 1, slices.Clone(y))
	}
	return func(t *Table) []float32 {
		to, all := make([]float64, 1), make([]float32, len(t.Score))
		for i, m := range list {
			c := encoders[i].encode(t)
			for q := range c.n {
				fitted[i].predict(c, q, to)
				all[q*len(t.Models)+int(m)] = float32(to[0])
			}
		}
		return all
	}, nil
}

// judge is the recorded score, or with probability wrong 1 less it.
func judge(t *Table, wrong float64, e Env) []float32 {
	s := rng.New(e.Seed, e.Replication, "judge")
	all := slices.Clone(t.Score)
	for i, score := range all {
		if s.Float64() < wrong {
			all[i] = 1 - score
		}
	}
	return all
}

// permutations lists all ordered choices of k, in the order of the list.
func permutations(list []int32, k int) [][]int32 {
	if k == 0 {
		return [][]int32{nil}
	}
	var all [][]int32
	for i, first := range list {
		rest := slices.Concat(list[:i], list[i+1:])
		for _, tail := range permutations(rest, k-1) {
			all = append(all, append([]int32{first}, tail...))
		}
	}
	return all
}

// Rules implements Fitted.
func (f *fittedCascade) Rules(t *Table) []Rule {
	confidence, m := f.confidence(t), len(t.Models)
	var rules []Rule
	for _, p := range f.plans {
		rules = append(rules, Rule{Name: p.name(t), Knob: p.budget, Calls: func(q int, to []int32) []int32 {
			for i, model := range p.order {
				to = append(to, model)
				if i < len(p.thresholds) && confidence[q*m+int(model)] >= p.thresholds[i] {
					break
				}
			}
			return to
		}})
	}
	return rules
}

// name lists the models with what the next one takes over from.
func (p *plan) name(t *Table) string {
	var b strings.Builder
	for i, m := range p.order {
		b.WriteString(t.Models[m])
		if i < len(p.thresholds) {
			fmt.Fprintf(&b, " <%.3g> ", p.thresholds[i])
		}
	}
	return b.String()
}
