package outcomes

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"switchyard/stages/trace"
)

// agentOpt is the format of AgentOpt's tables of all allocations.
var agentOpt = Format{
	Name:    "agentopt",
	Summary: "accuracy, latency and cost of every allocation of nine models to two modules (AgentOpt)",
	Source:  "github.com/AgentOptimizer/agentopt, the complete tables of HotpotQA and MathQA",
	Columns: "module0, module1, ... (the model at each), accuracy_pct (percent), latency_s (s), cost_usd_Nq (dollars for N questions), optional note",
	Level:   "module",
	matches: func(names []string) bool { return has(names, "module0", "accuracy_pct") },
	table:   readAgentOpt,
}

func readAgentOpt(r rows, _ Source, o *Outcomes) error {
	names := r.names()
	var modules []string
	for i := 0; has(names, fmt.Sprintf("module%d", i)); i++ {
		modules = append(modules, fmt.Sprintf("module%d", i))
	}
	accuracy, latency := slices.Index(names, "accuracy_pct"), slices.Index(names, "latency_s")
	if accuracy == none {
		return r.at(missing("accuracy_pct", names))
	}
	if len(modules) == 0 {
		return r.at(missing("module0", names))
	}
	cost, questions := costOf(names)
	a, err := newArranger(r, modules)
	if err != nil {
		return err
	}
	a.m.Sample = questions
	var all []totals
	notes := map[string]int{}
	for {
		if err := r.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		var t totals
		if err := t.read(a, r, accuracy, latency, cost); err != nil {
			return r.at(err)
		}
		all = append(all, t)
		if i := slices.Index(names, "note"); i != none {
			notes[r.cell(i).string()]++
		}
	}
	delete(notes, "")
	for _, text := range sortedKeys(notes) {
		o.note("%d of %d allocations are noted as %s", notes[text], len(all), text)
	}
	o.Modules, err = a.aggregate(o.File, all, latency != none, cost != none, questions)
	return err
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// costOf finds the column cost_usd_200q and its number of questions.
func costOf(names []string) (column, questions int) {
	for i, name := range names {
		if n, ok := strings.CutPrefix(name, "cost_usd_"); ok {
			if q, err := strconv.Atoi(strings.TrimSuffix(n, "q")); err == nil && strings.HasSuffix(n, "q") && q > 0 {
				return i, q
			}
		}
	}
	return none, 0
}

// totals is a row: what is recorded of an allocation.
type totals struct {
	choice                  [maxModules]int32
	accuracy, latency, cost float64
}

func (t *totals) read(a *arranger, r rows, accuracy, latency, cost int) *trace.Error {
	if err := a.choices(r, &t.choice); err != nil {
		return err
	}
	for _, x := range []struct {
		column int
		to     *float64
		most   float64
		want   string
	}{
		{accuracy, &t.accuracy, 100, "percent from 0 to 100"},
		{latency, &t.latency, 1e9, "seconds of at least 0"},
		{cost, &t.cost, 1e9, "dollars of at least 0"},
	} {
		if x.column == none {
			continue
		}
		name := r.names()[x.column]
		v, err := r.cell(x.column).number(name)
		if err != nil {
			return err
		}
		if !(v >= 0 && v <= x.most) {
			return bad(name, strconv.FormatFloat(v, 'g', -1, 64), x.want)
		}
		*x.to = v
	}
	return nil
}

// aggregate fills the arrays by allocation.
func (a *arranger) aggregate(file string, all []totals, latency, cost bool, questions int) (*Modules, error) {
	n, err := a.size(file, 1)
	if err != nil {
		return nil, err
	}
	if len(all) != n {
		return nil, &trace.Error{File: file, Problem: fmt.Sprintf("file has %d rows", len(all)),
			Expected: fmt.Sprintf("one for each of %d allocations (%s)", n, a.counts())}
	}
	renumber, m := a.unify(), a.m
	m.Accuracy = make([]float64, n)
	seen := make([]bool, n)
	if latency {
		m.LatencyS = make([]float64, n)
	}
	if cost {
		m.Cost = make([]float64, n)
	}
	for i := range all {
		at := a.number(&all[i].choice, renumber)
		if seen[at] {
			return nil, &trace.Error{File: file, Problem: "allocation " + a.describe(&all[i].choice, renumber) + " stands twice", Expected: "one row an allocation"}
		}
		seen[at] = true
		m.Accuracy[at] = all[i].accuracy / 100
		if latency {
			m.LatencyS[at] = all[i].latency
		}
		if cost {
			m.Cost[at] = all[i].cost / float64(questions)
		}
	}
	return m, nil
}
