package aggregate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"switchyard/sim/param"
	"switchyard/stages/stats"
)

// point is what routers share: a workload and a cluster, each with its swept
// values, or a system to dispatch to. Its configurations differ in their router alone.
type point struct {
	*measures
	workload, cluster string
	configs           []*configuration // in order of the grid
	wanted            string           // baseline, by name; "" where nothing competes
	baseline          *configuration   // nil where it has no run here
}

func (p *point) name() string { return join(" / ", p.workload, p.cluster) }

// pointsOf groups configurations by point, in the order in which the grid
// first meets them.
func pointsOf(configs []*configuration) []*point {
	type key struct{ job, workload, cluster string }
	index := map[key]*point{}
	var points []*point
	for _, c := range configs {
		k := key{c.Job, c.WorkloadPoint, c.ClusterPoint}
		p := index[k]
		if p == nil {
			p = &point{measures: c.measures, workload: k.workload, cluster: k.cluster}
			index[k] = p
			points = append(points, p)
		}
		p.configs = append(p.configs, c)
	}
	return points
}

// setBaselines finds the baseline of each job's points. A job that does not
// have it, where another has, takes the router of its first configuration, and
// so do all where the name is empty. A name that no job knows is an error, and
// so is one that means several configurations of a point.
func setBaselines(points []*point, name string) error {
	byJob := map[string][]*point{}
	var jobs []string
	found := name == ""
	for _, p := range points {
		if p.configs[0].Router == "" {
			continue // nothing competes
		}
		if byJob[p.job] == nil {
			jobs = append(jobs, p.job)
		}
		byJob[p.job] = append(byJob[p.job], p)
		found = found || slices.Contains(routerNames([]*point{p}), name)
	}
	if !found && len(jobs) > 0 {
		return unknownBaseline(points, name)
	}
	for _, job := range jobs {
		own := name
		if !slices.Contains(routerNames(byJob[job]), own) {
			own = firstBaseline(byJob[job])
		}
		if err := findBaselines(byJob[job], own); err != nil {
			return err
		}
	}
	return nil
}

// firstBaseline is the router of a job's first configuration, with its swept
// values where a point has several of them.
func firstBaseline(points []*point) string {
	first := points[0].configs[0]
	for _, p := range points {
		several := 0
		for _, c := range p.configs {
			if c.Router == first.Router {
				several++
			}
		}
		if several > 1 {
			return first.RouterPoint
		}
	}
	return first.Router
}

// findBaselines sets each point's baseline: the configuration whose router
// variant, or variant with swept values, has that name.
func findBaselines(points []*point, name string) error {
	for _, p := range points {
		p.wanted = name
		var of []string
		for _, c := range p.configs {
			if c.RouterPoint == name || c.Router == name {
				of = append(of, c.RouterPoint)
				p.baseline = c
			}
		}
		if len(of) > 1 {
			return fmt.Errorf("baseline %q means %d configurations of %s: %s; name one of them", name, len(of), p.name(), quoted(of))
		}
	}
	return nil
}

func unknownBaseline(points []*point, name string) error {
	known := routerNames(points)
	message := fmt.Sprintf("baseline %q has no runs, expected one of %s", name, quoted(known))
	if near := param.Nearest(name, known); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(message)
}

// routerNames lists variants and, where an axis splits them, their points.
func routerNames(points []*point) []string {
	var names []string
	for _, p := range points {
		for _, c := range p.configs {
			for _, name := range []string{c.Router, c.RouterPoint} {
				if name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, ", ")
}

// compare appends the point's rows of table `comparisons`, by configuration
// and metric; none without a baseline.
func (p *point) compare(rows []Comparison) []Comparison {
	if p.baseline == nil {
		return rows
	}
	first := len(rows)
	for _, c := range p.configs {
		if c == p.baseline {
			continue
		}
		for i := range p.list {
			rows = append(rows, c.against(p.baseline, i))
		}
	}
	for i := range p.list {
		correct(rows[first:], i, len(p.list))
	}
	return rows
}

// correct applies Holm to the rows of one metric of so many.
func correct(rows []Comparison, metric, metrics int) {
	var ps []float64
	for i := metric; i < len(rows); i += metrics {
		p := math.NaN()
		if rows[i].P != nil {
			p = *rows[i].P
		}
		ps = append(ps, p)
	}
	family := int32(len(present(ps)))
	for k, p := range stats.Holm(ps) {
		row := &rows[metric+k*metrics]
		row.PHolm = null(p)
		if row.P != nil {
			row.Family = family
		}
	}
}

// pairs returns the values of a metric in the replications in which both sides
// have one. Replications that only one side has are left out: without its
// partner a value would bring back the variance that pairing takes out.
func pairs(a, b *configuration, metric int) (x, y []float64) {
	for i, j := 0, 0; i < len(a.replications) && j < len(b.replications); {
		switch r, s := a.replications[i], b.replications[j]; {
		case r < s:
			i++
		case r > s:
			j++
		default:
			if v, w := a.values[metric][i], b.values[metric][j]; !math.IsNaN(v) && !math.IsNaN(w) {
				x, y = append(x, v), append(y, w)
			}
			i++
			j++
		}
	}
	return x, y
}

// against compares one metric with the baseline.
func (c *configuration) against(base *configuration, metric int) Comparison {
	x, y := pairs(c, base, metric)
	d := stats.Paired(x, y, level)
	row := Comparison{
		Where: c.where(&c.list[metric]), Baseline: base.RouterPoint, BaselineConfig: base.Config,
		N: int32(len(x)), Mean: null(stats.Mean(x)), BaselineMean: null(stats.Mean(y)),
		Difference: null(d.Mean), DifferenceLo: null(d.Lo), DifferenceHi: null(d.Hi), P: null(d.P),
		Saturated: c.saturated, BaselineSaturated: base.saturated,
		Warnings: c.warningsOf(metric),
	}
	for _, w := range base.warningsOf(metric) {
		if !slices.Contains(row.Warnings, w) {
			row.Warnings = append(row.Warnings, "baseline: "+w)
		}
	}
	if most := max(len(c.replications), len(base.replications)); len(x) > 0 && len(x) < most {
		row.Warnings = append(row.Warnings, fmt.Sprintf("%d pairs of %d replications", len(x), most))
	}
	if !c.saturated && !base.saturated {
		row.setRatio(x, y)
	}
	return row
}

// setRatio fills the ratio of what is never negative.
func (row *Comparison) setRatio(x, y []float64) {
	negative := func(v float64) bool { return v < 0 }
	if slices.ContainsFunc(x, negative) || slices.ContainsFunc(y, negative) {
		return
	}
	r := stats.Fieller(x, y, level)
	row.Ratio = null(r.Value)
	if row.Ratio == nil {
		return
	}
	each := make([]float64, len(x))
	for i := range x {
		each[i] = x[i] / y[i]
	}
	row.RatioMedian = null(stats.Median(each))
	switch {
	case r.Shape == stats.Bounded:
		row.RatioLo, row.RatioHi = null(r.Lo), null(r.Hi)
	case len(x) > 1:
		row.Warnings = append(row.Warnings, "the baseline's mean may be zero: the ratio has no bounds")
	}
}
