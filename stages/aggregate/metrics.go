package aggregate

import (
	"math"
	"reflect"
	"strings"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/serve"
	"switchyard/stages/simulate"
)

// metric is one column of a table of cells that is averaged and compared: one
// whose field has the tag better.
type metric struct {
	name, unit, better string
	field              int     // of the row's struct
	theory             int     // field with its value in theory, or -1
	sample             sample  // whose pooled quantile it has, or noSample
	q                  float64 // NaN unless it is a quantile
}

// measures are the metrics of one table of cells.
type measures struct {
	job   string
	list  []metric // in column order
	index map[string]int
	// The metrics that a person sees first, and the one that tells of change
	// within a run, or "".
	mean, tail, drift string
	sign              float64 // 1 where less of the first is better, -1 where more is
}

// The tables of cells.
var (
	served     = measuresOf(experiment.Simulate, reflect.TypeFor[simulate.Cell](), meanE2E, p99E2E, "e2e_drift")
	thrown     = measuresOf(experiment.Balls, reflect.TypeFor[queueing.BallsRow](), "maximum", "maximum", "")
	dispatched = measuresOf(experiment.Dispatch, reflect.TypeFor[queueing.DispatchRow](), "response_mean", "response_p99", "response_drift")
	chosen     = measuresOf(experiment.Choose, reflect.TypeFor[choose.SelectionRow](), testAccuracy, "gain_points", "")
	deployed   = measuresOf(experiment.Serve, reflect.TypeFor[serve.Row](), testAccuracy, "latency_p99_us", "")
)

// metrics are those of table `cells`.
var metrics = served.list

func measuresOf(job string, row reflect.Type, mean, tail, drift string) *measures {
	m := &measures{job: job, list: metricsOf(row), index: map[string]int{}, mean: mean, tail: tail, drift: drift}
	for i := range m.list {
		m.index[m.list[i].name] = i
	}
	m.sign = 1
	if m.list[m.of(mean)].better == "higher" {
		m.sign = -1
	}
	return m
}

// of returns the position of a metric in the list.
func (m *measures) of(name string) int {
	i, ok := m.index[name]
	if !ok {
		panic("aggregate: the cells of " + m.job + " have no metric " + name)
	}
	return i
}

// sample names a per-request time whose quantiles `cells` holds.
type sample int

const (
	noSample sample = iota
	ttft
	tpot
	e2e
	queue
	samples // their number, noSample included
)

var sampleNames = map[string]sample{"ttft": ttft, "tpot": tpot, "e2e": e2e, "queue": queue}

// metricsOf lists the metrics of a table of cells in column order.
func metricsOf(cell reflect.Type) []metric {
	columns := map[string]int{}
	for i := range cell.NumField() {
		name, _, _ := strings.Cut(cell.Field(i).Tag.Get("parquet"), ",")
		columns[name] = i
	}
	var out []metric
	for i := range cell.NumField() {
		tag := cell.Field(i).Tag
		better, ok := tag.Lookup("better")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(tag.Get("parquet"), ",")
		m := metric{name: name, unit: tag.Get("unit"), better: better, field: i, theory: -1}
		m.sample, m.q = quantileOf(name)
		if theory, ok := tag.Lookup("theory"); ok {
			m.theory, ok = columns[theory]
			if !ok {
				panic("aggregate: " + name + " has no column " + theory)
			}
		}
		out = append(out, m)
	}
	return out
}

// The metrics that this package knows by name.
const (
	meanE2E    = "e2e_mean_us"
	p99E2E     = "e2e_p99_us"
	hitRate    = "prefix_hit_rate"
	hitCeiling = "hit_ceiling"
	growthRps  = "backlog_slope_rps"
	arrivalRps = "arrival_rps"

	testAccuracy = "accuracy_test"
)

// metricIndex returns the position of a metric of `cells`.
func metricIndex(name string) int { return served.of(name) }

// timed reports whether the metric is a time that a request took.
func (m *metric) timed() bool { return m.unit == "us" || m.unit == "time" }

// quantileOf reads names such as e2e_p99_us and response_p999.
func quantileOf(name string) (sample, float64) {
	of, rest, _ := strings.Cut(name, "_")
	q, ok := map[string]float64{"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p999": 0.999}[strings.TrimSuffix(rest, "_us")]
	if !ok {
		return noSample, math.NaN()
	}
	return sampleNames[of], q
}

// value reads the metric from a cell; NaN where it is NULL.
func (m *metric) value(cell reflect.Value) float64 {
	return numberIn(m.name, cell.Field(m.field))
}

// numberIn reads a number of a row; a flag is 0 or 1, so that its mean is a share.
func numberIn(name string, v reflect.Value) float64 {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return math.NaN()
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	panic("aggregate: metric " + name + " is not a number")
}

// null turns what does not exist into NULL.
func null(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
