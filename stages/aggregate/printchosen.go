package aggregate

import (
	"fmt"
	"io"
	"slices"

	"switchyard/stages/stats"
)

// printChosen writes the block of a system in a world: its optimisers by
// accuracy on the test questions, best first.
func (p *point) printChosen(w io.Writer, l *legend) {
	list := p.ranking()
	fmt.Fprintln(w, clip(join(" in ", p.workload, p.cluster), printWidth))
	wrap(w, "", p.chosenTitle())
	columns := []column{
		{head: "", left: true}, {head: "optimiser", left: true}, {head: "test accuracy, %"}, {head: "gain, points"},
		{head: "evaluations"}, {head: "converged"},
	}
	priced := slices.ContainsFunc(list, func(c ranked) bool { return len(present(c.of("cost_question"))) > 0 })
	if priced {
		columns = append(columns, column{head: "$/question"})
	}
	curves := slices.ContainsFunc(list, func(c ranked) bool { return len(present(c.of("aiq"))) > 0 })
	if curves {
		columns = append(columns, column{head: "AIQ, %"})
	}
	// Gains are differences to the best single model, which needs no column more.
	other := p.baseline != nil && slices.ContainsFunc(p.baseline.of("gain_points"), func(g float64) bool { return g != 0 })
	if other {
		columns = append(columns, column{head: "less " + clip(p.baseline.RouterPoint, mostLabel/2), left: true})
	}
	l.gains, l.curves = true, l.curves || curves
	for i := range list {
		c := &list[i]
		cells := []string{
			c.rank, clip(c.RouterPoint, mostLabel),
			c.withHalf(testAccuracy, 100, 1, l), c.signed("gain_points", l),
			c.withHalf("evaluations", 1, 0, l), percent(stats.Mean(present(c.of("converged")))),
		}
		if priced {
			cells = append(cells, significant(stats.Mean(present(c.of("cost_question")))))
		}
		if curves {
			cells = append(cells, c.withHalf("aiq", 100, 1, l))
		}
		if other {
			cells = append(cells, c.difference(p.baseline))
		}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, cells[k])
		}
		l.ties = l.ties || c.tied
		l.single = l.single || len(c.replications) == 1
	}
	printColumns(w, columns)
	fmt.Fprintln(w)
}

// chosenTitle says what the optimisers share.
func (p *point) chosenTitle() string {
	var pools, runs []float64
	for _, c := range p.configs {
		n := float64(len(c.replications))
		pools, runs = append(pools, n), append(runs, float64(c.measured)/n)
	}
	text := fmt.Sprintf("%s, %s in each", span(pools, "pool"), span(runs, "run"))
	c := p.configs[0]
	if x := present(c.of("best_single_test")); len(x) > 0 {
		text += "; best single model " + percent(stats.Mean(x))
	}
	if x := present(c.of("optimum_test")); len(x) > 0 {
		text += ", optimum " + percent(stats.Mean(x))
	}
	return text
}

// signed writes a mean that may be below zero and half of its interval.
func (c *configuration) signed(name string, l *legend) string {
	text := c.withHalf(name, 1, 1, l)
	if text[0] != '-' {
		text = "+" + text
	} else if len(text) == 1 {
		return text // no value
	}
	return text
}

// difference writes by how many points a configuration is above another.
func (c *configuration) difference(base *configuration) string {
	if c == base {
		return "baseline"
	}
	row := c.against(base, c.measures.of(c.mean))
	if row.Difference == nil {
		return "-"
	}
	text := fmt.Sprintf("%+.1f", *row.Difference*100)
	if row.DifferenceLo != nil && row.DifferenceHi != nil {
		text += fmt.Sprintf(" [%+.1f, %+.1f]", *row.DifferenceLo*100, *row.DifferenceHi*100)
	}
	return text
}

// significant writes a number with four digits that count.
func significant(x float64) string {
	if x != x {
		return "-"
	}
	return fmt.Sprintf("%.4g", x)
}
