package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/simulate"
	"switchyard/stages/stats"
)

// configuration is a cell without its replication: what its replications say,
// one entry a replication in every slice, in ascending order of replication.
type configuration struct {
	Where
	*measures
	replications []int32
	pools        int32       // of candidates in a replication, each in the place of one; 0 in other jobs than choose
	values       [][]float64 // of each metric, NaN where NULL
	arrived      []int64     // in the windows
	taken        []int64     // of these, not rejected
	completed    []int64
	measured     int64   // requests behind the latencies, over all replications
	fate                 // of all requests, over all replications
	load         float64 // of dispatch, as asked for; 0 in other jobs
	source       string  // of the requests, as in cells; empty in other jobs
	policy       string  // of the router, as in cells; empty in other jobs

	saturated bool
	open      bool      // whether it is saturated is for its backlog to tell
	pooled    []float64 // of each metric, NaN where there is none; nil without requests
	sketched  bool      // pooled has a sketch's error
	theory    []float64 // of each metric, NaN where there is none
	model     *string   // behind them, and of which kind
	kind      *string
	chosen    string   // assignment that a role has most often; empty in other jobs than serve
	warnings  []string // that concern every metric
	timing    []string // that concern times
}

// cell is a row of any table of cells.
type cell struct {
	Where
	replication                         int32
	row                                 reflect.Value // that the measures read
	means                               []float64     // of each metric over several rows, in place of it
	arrived, taken, completed, measured int64
	fate
	load        float64
	source      string
	policy      string
	saturated   bool // known before the run
	open        bool // nothing is
	model, kind *string
	warnings    []string // that concern latencies
}

// fate counts what became of requests over whole runs.
type fate struct{ requests, finished, rejected, timedOut, failed int64 }

func (f *fate) add(of fate) {
	f.requests += of.requests
	f.finished += of.finished
	f.rejected += of.rejected
	f.timedOut += of.timedOut
	f.failed += of.failed
}

// lost says what did not finish; empty where all did.
func (f *fate) lost() string {
	return simulate.Fates(f.requests, f.rejected, f.timedOut, f.failed)
}

// gatherServed groups the rows of table `cells`.
func gatherServed(rows []simulate.Cell) ([]*configuration, error) {
	cells := make([]cell, len(rows))
	for i := range rows {
		r := &rows[i]
		cells[i] = cell{
			Where: Where{
				Job: experiment.Simulate, Config: r.Config,
				Workload: r.Workload, Cluster: r.Cluster, Router: r.Router,
				WorkloadPoint: r.WorkloadPoint, ClusterPoint: r.ClusterPoint, RouterPoint: r.RouterPoint,
				Replicas: r.Replicas, RateRps: r.RateRps, Factors: r.Factors, WarmUp: r.WarmUp,
			},
			replication: r.Replication, row: reflect.ValueOf(r).Elem(),
			arrived: r.Arrived, taken: r.Arrived - r.Turned, completed: r.Completed, measured: r.Measured,
			fate: fate{r.Requests, r.Finished, r.Rejected, r.TimedOut, r.Failed}, source: r.Source, policy: r.Policy,
		}
	}
	return gather(served, cells)
}

// gatherDispatched groups the rows of table `dispatch`.
func gatherDispatched(rows []queueing.DispatchRow) ([]*configuration, error) {
	cells := make([]cell, len(rows))
	for i := range rows {
		r := &rows[i]
		cells[i] = cell{
			Where: Where{
				Job: experiment.Dispatch, Config: r.Config,
				Workload: r.Workload, Router: r.Router, WorkloadPoint: r.WorkloadPoint, RouterPoint: r.RouterPoint,
				Replicas: r.Servers, Factors: r.Factors, WarmUp: r.WarmUp,
			},
			replication: r.Replication, row: reflect.ValueOf(r).Elem(),
			measured: r.Measured, saturated: r.Saturated, open: r.Stability == queueing.Open, load: r.Load, model: r.Theory, kind: r.TheoryKind, warnings: r.Warnings,
		}
	}
	return gather(dispatched, cells)
}

// gatherThrown groups the rows of table `balls`.
func gatherThrown(rows []queueing.BallsRow) ([]*configuration, error) {
	cells := make([]cell, len(rows))
	for i := range rows {
		r := &rows[i]
		cells[i] = cell{
			Where:       Where{Job: experiment.Balls, Config: r.Config, Workload: r.Workload, WorkloadPoint: r.WorkloadPoint, Factors: r.Factors},
			replication: r.Replication, row: reflect.ValueOf(r).Elem(), measured: r.Balls,
			model: &r.Theory, kind: &r.TheoryKind,
		}
	}
	return gather(thrown, cells)
}

// gather groups cells of one table by configuration, in order of the grid.
func gather(m *measures, cells []cell) ([]*configuration, error) {
	slices.SortStableFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), cmp.Compare(a.replication, b.replication))
	})
	var configs []*configuration
	var c *configuration
	for i := range cells {
		cell := &cells[i]
		if c == nil || c.Config != cell.Config {
			c = newConfiguration(m, cell)
			configs = append(configs, c)
		}
		if n := len(c.replications); n > 0 && c.replications[n-1] == cell.replication {
			return nil, fmt.Errorf("the cells of %s hold %s, replication %d, twice; delete the folder and run the experiment again", m.job, c.name(), cell.replication)
		}
		if cell.WarmUp != cells[0].WarmUp {
			return nil, fmt.Errorf("%s was measured with warm-up %v, %s with %v; say which one to measure all with, or run the experiment again",
				configs[0].name(), configs[0].WarmUp, c.name(), cell.WarmUp)
		}
		c.add(cell)
	}
	return configs, nil
}

func newConfiguration(m *measures, cell *cell) *configuration {
	c := &configuration{
		Where: cell.Where, measures: m, model: cell.model, kind: cell.kind, source: cell.source, policy: cell.policy, load: cell.load,
		values: make([][]float64, len(m.list)), theory: make([]float64, len(m.list)),
		timing: slices.Clone(cell.warnings),
	}
	for i := range m.list {
		c.theory[i] = math.NaN()
		if column := m.list[i].theory; column >= 0 {
			c.theory[i] = numberIn(m.list[i].name, cell.row.Field(column))
		}
	}
	return c
}

func (c *configuration) add(cell *cell) {
	for i := range c.list {
		value := math.NaN()
		if cell.means != nil {
			value = cell.means[i]
		} else {
			value = c.list[i].value(cell.row)
		}
		c.values[i] = append(c.values[i], value)
	}
	c.replications = append(c.replications, cell.replication)
	c.arrived = append(c.arrived, cell.arrived)
	c.taken = append(c.taken, cell.taken)
	c.completed = append(c.completed, cell.completed)
	c.measured += cell.measured
	c.fate.add(cell.fate)
	c.saturated = c.saturated || cell.saturated
	c.open = c.open || cell.open || cell.Job == experiment.Simulate
}

// name says which configuration this is, as progress and errors name it.
func (c *configuration) name() string {
	return join(" / ", c.WorkloadPoint, c.ClusterPoint, c.RouterPoint)
}

// join joins the texts that are there: a job need not have all three parts.
func join(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), between)
}

// of returns the values of a metric by its name.
func (c *configuration) of(name string) []float64 { return c.values[c.measures.of(name)] }

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

// deviation returns how many standard errors of its own the mean of x lies
// above theory; NaN with one value, or where all agree.
func deviation(x []float64, theory float64) float64 {
	se := math.Sqrt(stats.Variance(x) / float64(len(x)))
	if !(se > 0) {
		return math.NaN()
	}
	return (stats.Mean(x) - theory) / se
}

// summarise appends the configuration's rows of table `summary`.
func (c *configuration) summarise(rows []Summary) []Summary {
	for i := range c.list {
		m := &c.list[i]
		x := present(c.values[i])
		mean, in := stats.Interval(x, level)
		row := Summary{
			Where: c.where(m), N: int32(len(x)),
			Mean: null(mean), Lo: null(in.Lo), Hi: null(in.Hi), SD: null(math.Sqrt(stats.Variance(x))),
			Requests: c.measured, Saturated: c.saturated,
			Warnings: c.warningsOf(i),
		}
		if !math.IsNaN(c.theory[i]) {
			row.Theory, row.TheoryModel, row.TheoryKind = null(c.theory[i]), c.model, c.kind
			row.Deviation = null(deviation(x, c.theory[i]))
		}
		if c.pooled != nil {
			row.Pooled = null(c.pooled[i])
		}
		rows = append(rows, row)
	}
	return rows
}
