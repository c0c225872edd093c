package aggregate

import (
	"fmt"
	"io"
	"slices"

	"switchyard/stages/stats"
)

// printDeployed writes the block of a system in a world on GPUs: what is chosen
// with and without the objective, and the best single model.
func (p *point) printDeployed(w io.Writer, l *legend) {
	fmt.Fprintln(w, clip(join(" on ", p.workload, p.cluster), printWidth))
	var pools, questions []float64
	for _, c := range p.configs {
		n := float64(len(c.replications))
		pools, questions = append(pools, n), append(questions, float64(c.measured)/n)
	}
	wrap(w, "", fmt.Sprintf("%s of %s; chosen by training questions, measured by others", span(pools, "pool"), span(questions, "measured question")))
	columns := []column{
		{head: "", left: true}, {head: "test accuracy, %"}, {head: "mean latency, s"}, {head: "p99, s"}, {head: "in slo, %"}, {head: "GPUs"},
	}
	priced := slices.ContainsFunc(p.configs, func(c *configuration) bool { return len(present(c.of("dollars_question"))) > 0 })
	if priced {
		columns = append(columns, column{head: "$/1000"})
	}
	for _, c := range p.configs {
		cells := []string{
			c.RouterPoint, c.withHalf(testAccuracy, 100, 1, l), c.withHalf("latency_mean_us", 1e-6, 1, l),
			c.withHalf("latency_p99_us", 1e-6, 1, l), c.withHalf("slo_share", 100, 1, l), significant(stats.Mean(present(c.of("gpus_used")))),
		}
		if priced {
			cells = append(cells, significant(1000*stats.Mean(present(c.of("dollars_question")))))
		}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, cells[k])
		}
		l.single = l.single || len(c.replications) == 1
	}
	printColumns(w, columns)
	for _, c := range p.configs {
		wrap(w, "  ", c.RouterPoint+": "+c.chosen)
	}
	if len(p.configs) > 0 && !slices.ContainsFunc(p.configs, func(c *configuration) bool { return c.RouterPoint == roles[1].name }) {
		wrap(w, "  ", "no assignment meets the objective in training: raise gpus, slo.latency_ms or lower the rate")
	}
	fmt.Fprintln(w)
}
