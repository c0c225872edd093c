package aggregate

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"switchyard/stages/simulate"
	"switchyard/stages/stats"
)

// configuration is a cell without its replication: what its replications say,
// one entry a replication in every slice, in ascending order of replication.
type configuration struct {
	Where
	replications []int32
	values       [][]float64 // of each metric, NaN where NULL
	arrived      []int64
	completed    []int64
	unserved     int64 // requests rejected or failed, over all replications
	measured     int64 // requests behind the latencies, over all replications

	saturated bool
	pooled    []float64 // of each metric, NaN where there is none; nil without requests
	sketched  bool      // pooled has a sketch's error
	warnings  []string  // that concern every metric
	timing    []string  // that concern latencies
}

// gather groups cells by configuration, in order of the grid.
func gather(cells []simulate.Cell) ([]*configuration, error) {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &cells[a], &cells[b]
		if x.Config != y.Config {
			return int(x.Config) - int(y.Config)
		}
		return int(x.Replication) - int(y.Replication)
	})
	var configs []*configuration
	var c *configuration
	for _, i := range order {
		cell := &cells[i]
		if c == nil || c.Config != cell.Config {
			c = newConfiguration(cell)
			configs = append(configs, c)
		}
		if n := len(c.replications); n > 0 && c.replications[n-1] == cell.Replication {
			return nil, fmt.Errorf("table cells holds %s, replication %d, twice; delete the folder and run the experiment again", c.name(), cell.Replication)
		}
		if cell.WarmUp != cells[order[0]].WarmUp {
			return nil, fmt.Errorf("%s was measured with warm-up %v, %s with %v; say which one to measure all with, or run the experiment again",
				configs[0].name(), configs[0].WarmUp, c.name(), cell.WarmUp)
		}
		c.add(cell)
	}
	return configs, nil
}

func newConfiguration(cell *simulate.Cell) *configuration {
	return &configuration{
		Where: Where{
			Config:   cell.Config,
			Workload: cell.Workload, Cluster: cell.Cluster, Router: cell.Router,
			WorkloadPoint: cell.WorkloadPoint, ClusterPoint: cell.ClusterPoint, RouterPoint: cell.RouterPoint,
			Replicas: cell.Replicas, RateRps: cell.RateRps, Factors: cell.Factors,
			WarmUp: cell.WarmUp,
		},
		values: make([][]float64, len(metrics)),
	}
}

func (c *configuration) add(cell *simulate.Cell) {
	v := reflect.ValueOf(cell).Elem()
	for i := range metrics {
		c.values[i] = append(c.values[i], metrics[i].value(v))
	}
	c.replications = append(c.replications, cell.Replication)
	c.arrived = append(c.arrived, cell.Arrived)
	c.completed = append(c.completed, cell.Completed)
	c.measured += cell.Measured
	c.unserved += cell.Rejected + cell.Failed
}

// name says which configuration this is, as progress and errors name it.
func (c *configuration) name() string {
	return c.WorkloadPoint + " / " + c.ClusterPoint + " / " + c.RouterPoint
}

// of returns the values of a metric by its name.
func (c *configuration) of(name string) []float64 { return c.values[metricIndex(name)] }

// where returns the row's head for a metric.
func (c *configuration) where(m *metric) Where {
	w := c.Where
	w.Metric, w.Unit, w.Better = m.name, m.unit, m.better
	return w
}

// present returns the values of replications that have one.
func present(values []float64) []float64 {
	if !slices.ContainsFunc(values, math.IsNaN) {
		return values
	}
	out := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// summarise appends the configuration's rows of table `summary`.
func (c *configuration) summarise(rows []Summary) []Summary {
	for i := range metrics {
		m := &metrics[i]
		x := present(c.values[i])
		mean, in := stats.Interval(x, level)
		row := Summary{
			Where: c.where(m), N: int32(len(x)),
			Mean: null(mean), Lo: null(in.Lo), Hi: null(in.Hi), SD: null(math.Sqrt(stats.Variance(x))),
			Requests: c.measured, Saturated: c.saturated,
			Warnings: c.warningsOf(i),
		}
		if c.pooled != nil {
			row.Pooled = null(c.pooled[i])
		}
		rows = append(rows, row)
	}
	return rows
}
