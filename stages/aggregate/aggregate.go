package aggregate

import (
	"fmt"
	"path/filepath"
	"slices"

	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// level is the confidence of every interval.
const level = 0.95

// Options says how to aggregate. The zero value compares with the first router
// of the grid over the windows of `cells`, and wants every replication.
type Options struct {
	// Baseline is the router variant that others are compared with (`sticky`),
	// or one of its swept values (`sticky threshold=0.25`), which is needed
	// where a point has several. Empty means the router of the first
	// configuration.
	Baseline string
	// WarmUp, in [0, 1), cuts the window anew; nil keeps that of the plan or,
	// without one, of `cells`. It needs all requests in table `requests`. The
	// replicas' state over the window (utilisation, mean KV use) is not in
	// there, and NULL then.
	WarmUp *float64
	// AllowMissing takes configurations without some of their replications;
	// each such row then has a warning.
	AllowMissing bool
	// Plan lets configurations be missed of which no cell is there, and says
	// which warm-up and objective the cells should have; without it the wanted
	// replications are those that any configuration of the workload has.
	Plan *simulate.Plan
}

// Result is what Run wrote, and what Print shows.
type Result struct {
	Summary     []Summary
	Comparisons []Comparison
	Warnings    []string // about the experiment as a whole

	configs  []*configuration
	baseline string // router or router_point, as asked for
}

// Run reads `cells` (and `requests` where they are all kept) of an
// experiment's folder and writes `summary` and `comparisons` into it.
func Run(dir string, o Options) (*Result, error) {
	if o.WarmUp != nil && !(*o.WarmUp >= 0 && *o.WarmUp < 1) {
		return nil, fmt.Errorf("warm-up is %v, expected at least 0 and less than 1", *o.WarmUp)
	}
	cells, err := simulate.Cells.Read(dir)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("aggregate: table cells in %s is empty; run the experiment first", dir)
	}
	extras, err := readRequests(dir, cells, measureOf(o))
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	result, err := analyse(cells, extras, o)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	prov, err := provenance(dir, o.Plan)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	if err := SummaryTable.Write(dir, result.Summary, prov); err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	if err := ComparisonTable.Write(dir, result.Comparisons, prov); err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	return result, nil
}

// analyse is Run without files: extras are what the requests say, by
// configuration.
func analyse(cells []simulate.Cell, extras map[int32]*extra, o Options) (*Result, error) {
	configs, err := gather(cells)
	if err != nil {
		return nil, err
	}
	missing := findMissing(configs, o.Plan)
	if len(missing.Of) > 0 && !o.AllowMissing {
		return nil, missing
	}
	for _, c := range configs {
		c.judge()
		c.doubt(extras[c.Config], missing)
	}
	points := pointsOf(configs)
	baseline := o.Baseline
	if baseline == "" {
		baseline = configs[0].Router
	}
	if err := findBaselines(points, baseline); err != nil {
		return nil, err
	}
	result := &Result{configs: configs, baseline: baseline}
	result.Summary = make([]Summary, 0, len(configs)*len(metrics))
	for _, c := range configs {
		result.Summary = c.summarise(result.Summary)
	}
	result.Comparisons = make([]Comparison, 0, len(configs)*len(metrics))
	for _, p := range points {
		result.Comparisons = p.compare(result.Comparisons)
		if p.baseline == nil {
			result.Warnings = append(result.Warnings, fmt.Sprintf("%s has no run of baseline %s: nothing is compared there", p.name(), baseline))
		}
	}
	byConfig := func(a, b Comparison) int { return int(a.Config) - int(b.Config) }
	if !slices.IsSortedFunc(result.Comparisons, byConfig) { // it is where routers are the fastest axis
		slices.SortStableFunc(result.Comparisons, byConfig)
	}
	for _, m := range missing.Of {
		result.Warnings = append(result.Warnings, "incomplete: "+m.String())
	}
	return result, nil
}

// provenance names the experiment: as its plan does or, without one, as the
// folder, which is named after it unless a flag said otherwise.
func provenance(dir string, plan *simulate.Plan) (table.Provenance, error) {
	if plan != nil {
		return table.Provenance{Experiment: plan.Experiment.Name}, nil
	}
	path, err := filepath.Abs(dir)
	return table.Provenance{Experiment: filepath.Base(path)}, err
}
