package aggregate

import (
	"fmt"
	"io"
	"math"

	"switchyard/stages/stats"
)

// printBalls writes a block of all settings of balls and bins.
func printBalls(w io.Writer, configs []*configuration, l *legend) {
	fmt.Fprintln(w, "balls into bins")
	columns := []column{{head: "", left: true}, {head: "mean maximum"}, {head: "sd"}, {head: "least-most"}, {head: "growth law"}, {head: "empty bins"}, {head: "replications"}}
	for _, c := range configs {
		x := present(c.of("maximum"))
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, v := range x {
			lo, hi = min(lo, v), max(hi, v)
		}
		cells := []string{
			clip(c.WorkloadPoint, 2*mostLabel), c.withHalf("maximum", 1, 2, l), fmt.Sprintf("%.2f", math.Sqrt(stats.Variance(x))),
			fmt.Sprintf("%.0f-%.0f", lo, hi), "-", percent(stats.Mean(present(c.of("empty_share")))), fmt.Sprint(len(x)),
		}
		if growth := present(c.of("growth_law")); len(growth) > 0 {
			cells[4] = fmt.Sprintf("%.2f", growth[0])
		}
		if len(x) == 1 {
			cells[2] = "-"
			l.single = true
		}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, cells[k])
		}
	}
	printColumns(w, columns)
	fmt.Fprintln(w)
}

// againstTheory writes what theory says of the mean: "10 M/M/1, -1.2 SE".
func (c *configuration) againstTheory(l *legend) string {
	i := c.measures.of(c.mean)
	theory := c.theory[i]
	if math.IsNaN(theory) {
		return "-"
	}
	text := fmt.Sprintf("%.4g", theory)
	if c.model != nil {
		text += " " + *c.model
	}
	if c.kind == nil || *c.kind != "exact" {
		return text // what is off is the limit, by how much no chance tells
	}
	if d := deviation(present(c.values[i]), theory); !math.IsNaN(d) {
		l.theory = true
		text += fmt.Sprintf(", %+.1f SE", d)
	}
	return text
}
