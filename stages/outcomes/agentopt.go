package outcomes

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"switchyard/sim/compound"
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
		return at(r, o.File, missing("accuracy_pct", names))
	}
	if len(modules) == 0 {
		return at(r, o.File, missing("module0", names))
	}
	cost, questions := costOf(names)
	a, err := newArranger(r, modules, o.File)
	if err != nil {
		return err
	}
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
			return at(r, o.File, err)
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
	return a.aggregate(o, all, max(1, questions))
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
	choice                  []int32
	line                    int
	accuracy, latency, cost float64
}

func (t *totals) read(a *arranger, r rows, accuracy, latency, cost int) *trace.Error {
	t.line, _ = r.place()
	var err *trace.Error
	if t.choice, err = a.choices(r); err != nil {
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

// aggregate fills a table of means.
func (a *arranger) aggregate(o *Outcomes, all []totals, questions int) error {
	n, err := a.allocations(o.File)
	if err != nil {
		return err
	}
	renumber := a.unify()
	table, err := compound.NewAverages(a.names, questions)
	if err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	for i := range all {
		x := &all[i]
		if err := table.Add(renumbered(x.choice, renumber), x.accuracy/100, x.cost/float64(questions), x.latency); err != nil {
			return &trace.Error{File: o.File, Line: x.line, Problem: err.Error(), Expected: "one row an allocation"}
		}
	}
	if missing := table.Missing(); missing > 0 {
		o.note("%d of %d allocations are missing", missing, n)
	}
	o.Averages = table
	return nil
}
