package aggregate

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/stats"
)

// gatherChosen groups the rows of table `selections`. What is independent of
// each other there is a pool of candidates, of which a replication has several:
// a pool takes the place of a replication, with the mean over its starts, which
// share the pool and so are no sample of their own.
func gatherChosen(rows []choose.SelectionRow) ([]*configuration, error) {
	pools := map[int32]int32{} // in a replication, by configuration
	for i := range rows {
		pools[rows[i].Config] = max(pools[rows[i].Config], rows[i].Pool)
	}
	sample := func(r *choose.SelectionRow) int32 { return (r.Replication-1)*pools[r.Config] + r.Pool }
	slices.SortStableFunc(rows, func(a, b choose.SelectionRow) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), cmp.Compare(sample(&a), sample(&b)), cmp.Compare(a.Start, b.Start))
	})
	var cells []cell
	for i := 0; i < len(rows); {
		n := i
		for n < len(rows) && rows[n].Config == rows[i].Config && sample(&rows[n]) == sample(&rows[i]) {
			n++
		}
		r := &rows[i]
		cells = append(cells, cell{
			Where: Where{
				Job: experiment.Choose, Config: r.Config,
				Workload: r.System, Cluster: r.World, Router: r.Optimiser,
				WorkloadPoint: r.SystemPoint, ClusterPoint: r.WorldPoint, RouterPoint: r.OptimiserPoint,
				Factors: r.Factors,
			},
			replication: sample(r), means: chosen.meansOf(rows[i:n]), measured: int64(n - i), warnings: r.Warnings,
		})
		i = n
	}
	configs, err := gather(chosen, cells)
	for _, c := range configs {
		c.pools = pools[c.Config]
		// Doubts about choices are not about times.
		c.warnings, c.timing = c.timing, nil
	}
	return configs, err
}

// meansOf returns the mean of each metric over rows in which it has a value.
func (m *measures) meansOf(rows []choose.SelectionRow) []float64 {
	out := make([]float64, len(m.list))
	values := make([]float64, len(rows))
	for k := range m.list {
		for i := range rows {
			values[i] = m.list[k].value(reflect.ValueOf(&rows[i]).Elem())
		}
		out[k] = math.NaN()
		if x := present(values); len(x) > 0 {
			out[k] = stats.Mean(x)
		}
	}
	return out
}
