package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/cascade"
	"switchyard/stages/choose"
)

// contender is an assignment, or one with a rule at a module.
type contender struct {
	text, rule  string
	alloc       []int32 // without a rule
	single      bool
	train, test side
	priced      bool
	uses        []bool // by model: whether it can be called
}

// side is how a contender does on one set of questions.
type side struct {
	accuracy, dollars float64
	who               func(question, module int, to []int32) []int32
}

// field makes the contenders of a pool.
type field struct {
	*Config
	stand       *choose.Stand
	seed        uint64
	replication int
	train, test func(alloc []int32) (float64, error)
	all         []*contender
	seen        map[string]bool
}

// contenders lists them.
func (c *Config) contenders(ctx context.Context, s *choose.Stand, seed uint64, replication int) ([]*contender, error) {
	f := &field{Config: c, stand: s, seed: seed, replication: replication, train: choose.Judge(s.Train), test: choose.Judge(s.Test), seen: map[string]bool{}}
	if !c.ground.Paid() && c.few(s) {
		alloc := make([]int32, len(s.Candidates))
		for more := true; more; more = next(s.Candidates, alloc) {
			if err := f.add(alloc); err != nil {
				return nil, err
			}
		}
		return f.all, f.addRules()
	}
	some, err := s.Found(ctx)
	if err != nil {
		return nil, err
	}
	if !c.ground.Paid() {
		front, err := s.Front()
		if err != nil {
			return nil, err
		}
		some = slices.Concat(s.Singles(), front, some)
	}
	for _, alloc := range some {
		if err := f.add(alloc); err != nil {
			return nil, err
		}
	}
	return f.all, f.addRules()
}

// few reports whether all assignments are served.
func (c *Config) few(s *choose.Stand) bool {
	all, most := 1, max(1, c.way.params.Assignments)
	for _, list := range s.Candidates {
		if all *= len(list); all > most {
			return false
		}
	}
	sum := all
	for _, r := range c.way.rules {
		sum += all / len(s.Candidates[c.module(&r)])
	}
	return sum <= c.way.params.Assignments
}

// module is where a rule stands.
func (c *Config) module(r *rule) int {
	modules, _ := c.ground.Candidates()
	return slices.Index(modules, r.module)
}

// next makes an assignment the next one, the last module fastest.
func next(candidates [][]string, alloc []int32) bool {
	for m := len(alloc) - 1; m >= 0; m-- {
		if alloc[m]++; int(alloc[m]) < len(candidates[m]) {
			return true
		}
		alloc[m] = 0
	}
	return false
}

// add appends an assignment of models that are all served.
func (f *field) add(alloc []int32) error {
	text := f.stand.Text(alloc)
	if f.seen[text] {
		return nil
	}
	f.seen[text] = true
	k := &contender{text: text, alloc: slices.Clone(alloc), priced: f.stand.Priced, uses: make([]bool, len(f.way.names)), single: f.single(alloc)}
	pools := make([]int32, len(alloc))
	for m, c := range alloc {
		if pools[m] = f.pools[m][c]; pools[m] < 0 {
			return nil
		}
		k.uses[pools[m]] = true
	}
	who := func(_, m int, to []int32) []int32 { return append(to, pools[m]) }
	for _, side := range []struct {
		of    *side
		judge func([]int32) (float64, error)
		cost  interface {
			Cost(alloc []int32) (float64, error)
		}
	}{{&k.train, f.train, f.stand.Train}, {&k.test, f.test, f.stand.Test}} {
		var err error
		if side.of.accuracy, err = side.judge(alloc); err != nil {
			return err
		}
		if side.of.dollars, err = side.cost.Cost(alloc); err != nil {
			return err
		}
		side.of.who = who
	}
	f.all = append(f.all, k)
	return nil
}

// single reports whether all modules have one model.
func (f *field) single(alloc []int32) bool {
	for m, c := range alloc {
		if f.stand.Candidates[m][c] != f.stand.Candidates[0][alloc[0]] {
			return false
		}
	}
	return true
}

// addRules lets each rule stand in for the model of its module in the
// contenders that are there.
func (f *field) addRules() error {
	plain := len(f.all)
	for i := range f.way.rules {
		r := &f.way.rules[i]
		m := f.module(r)
		for _, base := range f.all[:plain] {
			alloc := slices.Clone(base.alloc)
			alloc[m] = 0
			if text := f.text(alloc, m, r.name); !f.seen[text] {
				f.seen[text] = true
				if err := f.addRule(alloc, m, r, text); err != nil {
					return fmt.Errorf("rule %s at module %s: %w", r.name, r.module, err)
				}
			}
		}
	}
	return nil
}

// text writes an assignment with something else at module m.
func (f *field) text(alloc []int32, m int, instead string) string {
	modules, _ := f.ground.Candidates()
	parts := make([]string, len(alloc))
	for i, c := range alloc {
		parts[i] = modules[i] + "=" + f.stand.Candidates[i][c]
	}
	parts[m] = modules[m] + "=" + instead
	return strings.Join(parts, " ")
}

// addRule appends an assignment with a rule at module m.
func (f *field) addRule(alloc []int32, m int, r *rule, text string) error {
	x, err := f.fit(f.stand, alloc, r, f.seed, f.replication)
	if err != nil {
		return err
	}
	if x.constant() {
		return nil // a contender already, under the name of a model
	}
	k := &contender{text: text, rule: x.test.Name, priced: f.stand.Priced, uses: make([]bool, len(f.way.names))}
	pools := make([]int32, len(alloc))
	for other, c := range alloc {
		if other == m {
			continue
		}
		if pools[other] = f.pools[other][c]; pools[other] < 0 {
			return nil
		}
		k.uses[pools[other]] = true
	}
	for _, s := range []struct {
		of    *side
		rule  cascade.Rule
		table *cascade.Table
		world interface {
			Cost(alloc []int32) (float64, error)
		}
	}{{&k.train, x.train, x.onTrain.System, f.stand.Train}, {&k.test, x.test, x.onTest.System, f.stand.Test}} {
		result := cascade.Evaluate(s.table, s.rule)
		for c, calls := range result.Calls {
			if calls > 0 {
				if f.pools[m][c] < 0 {
					return fmt.Errorf("it calls %s, which is not served: name it under models of serving, or name those that it may call", s.table.Models[c])
				}
				k.uses[f.pools[m][c]] = true
			}
		}
		whole, err := s.world.Cost(alloc)
		if err != nil {
			return err
		}
		// The rule's calls take the place of those of the candidate in alloc.
		s.of.accuracy, s.of.dollars = result.Quality, whole+result.Cost-cascade.Evaluate(s.table, fixed(alloc[m])).Cost
		s.of.who = func(q, module int, to []int32) []int32 {
			if module != m {
				return append(to, pools[module])
			}
			from := len(to)
			to = s.rule.Calls(q, to)
			for i := from; i < len(to); i++ {
				to[i] = f.pools[m][to[i]]
			}
			return to
		}
	}
	f.all = append(f.all, k)
	return nil
}

// fixed calls one candidate for all questions.
func fixed(candidate int32) cascade.Rule {
	return cascade.Rule{Calls: func(_ int, to []int32) []int32 { return append(to, candidate) }}
}

// fittedRule is a rule at the setting that it is judged by, on both tables.
type fittedRule struct {
	train, test     cascade.Rule
	onTrain, onTest choose.Outcomes
}

// constant reports whether the rule calls one model for all questions.
func (x *fittedRule) constant() bool {
	train, test := cascade.Evaluate(x.onTrain.System, x.train), cascade.Evaluate(x.onTest.System, x.test)
	called := 0
	for c := range train.Calls {
		if train.Calls[c] > 0 || test.Calls[c] > 0 {
			called++
		}
	}
	return called == 1
}

// fit fits a rule at its module, with the other modules as in an assignment, to
// what the module does on the training questions; its setting is chosen by what
// the system scores there.
func (c *Config) fit(s *choose.Stand, alloc []int32, r *rule, seed uint64, replication int) (*fittedRule, error) {
	x := &fittedRule{}
	var err error
	if x.onTrain, x.onTest, err = s.Outcomes(alloc, c.module(r)); err != nil {
		return nil, err
	}
	fitted, err := r.params.Fit(x.onTrain.Module, cascade.Env{Seed: seed, Replication: replication})
	if err != nil {
		return nil, err
	}
	train, test := fitted.Rules(x.onTrain.Module), fitted.Rules(x.onTest.Module)
	settings := make([]cascade.Result, len(train))
	for i := range train {
		settings[i] = cascade.Evaluate(x.onTrain.System, train[i])
	}
	at := r.route.Choose(settings)
	x.train, x.test = train[at], test[at]
	return x, nil
}
