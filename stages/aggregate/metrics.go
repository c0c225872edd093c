package aggregate

import (
	"math"
	"reflect"
	"strings"

	"switchyard/stages/simulate"
)

// metric is one column of `cells` that is averaged and compared: one whose
// field has the tag better.
type metric struct {
	name, unit, better string
	field              int     // of simulate.Cell
	sample             sample  // what its quantile is of, or noSample
	q                  float64 // NaN unless it is a quantile
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

// metricsOf lists the metrics of `cells` in column order.
func metricsOf(cell reflect.Type) []metric {
	var out []metric
	for i := range cell.NumField() {
		tag := cell.Field(i).Tag
		better, ok := tag.Lookup("better")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(tag.Get("parquet"), ",")
		m := metric{name: name, unit: tag.Get("unit"), better: better, field: i}
		m.sample, m.q = quantileOf(name)
		out = append(out, m)
	}
	return out
}

var metrics = metricsOf(reflect.TypeFor[simulate.Cell]())

// The metrics that this package knows by name.
const (
	meanE2E    = "e2e_mean_us"
	p99E2E     = "e2e_p99_us"
	hitRate    = "prefix_hit_rate"
	hitCeiling = "hit_ceiling"
	driftE2E   = "e2e_drift"
	growthRps  = "backlog_slope_rps"
	arrivalRps = "arrival_rps"
)

var metricIndexes = func() map[string]int {
	out := map[string]int{}
	for i := range metrics {
		out[metrics[i].name] = i
	}
	return out
}()

// metricIndex returns the position of a metric in metrics.
func metricIndex(name string) int {
	i, ok := metricIndexes[name]
	if !ok {
		panic("aggregate: cells has no metric " + name)
	}
	return i
}

// timed reports whether the metric is a time that a request took.
func (m *metric) timed() bool { return m.unit == "us" }

// quantileOf reads names such as e2e_p99_us.
func quantileOf(name string) (sample, float64) {
	of, rest, _ := strings.Cut(name, "_")
	if s, ok := sampleNames[of]; ok {
		switch rest {
		case "p50_us":
			return s, 0.50
		case "p90_us":
			return s, 0.90
		case "p95_us":
			return s, 0.95
		case "p99_us":
			return s, 0.99
		}
	}
	return noSample, math.NaN()
}

// value reads the metric from a cell; NaN where it is NULL.
func (m *metric) value(cell reflect.Value) float64 {
	v := cell.Field(m.field)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return math.NaN()
		}
		v = v.Elem()
	}
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	panic("aggregate: metric " + m.name + " is not a number")
}

// null turns what does not exist into NULL.
func null(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
