package aggregate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/serve"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// level is the confidence of every interval.
const level = 0.95

// mostWarmUp is what an experiment file allows, too: less than a tenth of the
// arrivals is no window.
const mostWarmUp = 0.9

// Options says how to aggregate. The zero value compares with the first router
// of the grid over the windows of `cells`, and wants every replication.
type Options struct {
	// Baseline is the router variant that others are compared with (`sticky`),
	// or one of its swept values (`sticky threshold=0.25`), which is needed
	// where a point has several. Empty means the router of the first
	// configuration.
	Baseline string
	// WarmUp, in [0, 0.9] as in an experiment file, cuts the window anew; nil keeps that of the plan or,
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
	// Queueing does the same for tables balls and dispatch. Where one of the
	// plans is given, the others are too.
	Queueing *queueing.Plan
	// Choose does the same for table selections.
	Choose *choose.Plan
	// Serve does the same for table served.
	Serve *serve.Plan
}

// Result is what Run wrote, and what Print shows.
type Result struct {
	Summary     []Summary
	Comparisons []Comparison
	Warnings    []string // about the experiment as a whole

	points []*point
}

// Run reads the tables of cells of an experiment's folder (and `requests` where
// they are all kept) and writes `summary` and `comparisons` into it.
func Run(dir string, o Options) (*Result, error) {
	if o.WarmUp != nil && !(*o.WarmUp >= 0 && *o.WarmUp <= mostWarmUp) {
		return nil, fmt.Errorf("warm-up is %v, expected 0 to %v, as in an experiment file", *o.WarmUp, mostWarmUp)
	}
	var in rows
	if err := in.read(dir, o); err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	result, err := in.analyse(o)
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

// rows are what an experiment's tables of cells hold.
type rows struct {
	served     []simulate.Cell
	extras     map[int32]*extra // what the requests say, by configuration
	thrown     []queueing.BallsRow
	dispatched []queueing.DispatchRow
	chosen     []choose.SelectionRow
	deployed   []serve.Row
}

// read reads the tables of the jobs that the plans have or, without plans, the
// tables that are there.
func (in *rows) read(dir string, o Options) error {
	planned := o.planned()
	var err error
	if !planned || o.Plan != nil && len(o.Plan.Runs) > 0 {
		if in.served, err = readCells(simulate.Cells, dir, planned); err != nil {
			return err
		}
		if in.extras, err = readRequests(dir, in.served, measureOf(o)); err != nil {
			return err
		}
	}
	if !planned || o.Queueing != nil && len(o.Queueing.Balls) > 0 {
		if in.thrown, err = readLean(queueing.Balls, dir, planned, func(row *queueing.BallsRow) { row.Loads = nil }); err != nil {
			return err
		}
	}
	if !planned || o.Queueing != nil && len(o.Queueing.Dispatch) > 0 {
		if in.dispatched, err = readLean(queueing.Dispatch, dir, planned, (*queueing.DispatchRow).WithoutLists); err != nil {
			return err
		}
	}
	if !planned || o.Choose != nil && len(o.Choose.Runs) > 0 {
		if in.chosen, err = readLean(choose.Selections, dir, planned, (*choose.SelectionRow).WithoutTexts); err != nil {
			return err
		}
	}
	if !planned || o.Serve != nil && len(o.Serve.Runs) > 0 {
		if in.deployed, err = readCells(serve.Served, dir, planned); err != nil {
			return err
		}
	}
	if len(in.served)+len(in.thrown)+len(in.dispatched)+len(in.chosen)+len(in.deployed) == 0 {
		return fmt.Errorf("no table of cells in %s has rows; run the experiment first", dir)
	}
	return o.refuseWarmUp(in)
}

// planned reports whether the options say what should be there.
func (o Options) planned() bool {
	return o.Plan != nil || o.Queueing != nil || o.Choose != nil || o.Serve != nil
}

// readCells reads a table; without need, one that is not there has no rows.
func readCells[T any](t *table.Table[T], dir string, need bool) ([]T, error) {
	return readLean(t, dir, need, func(*T) {})
}

// readLean is readCells of rows that drop what nobody asks for as they come, so
// that no more than a batch of them has it at a time.
func readLean[T any](t *table.Table[T], dir string, need bool, drop func(row *T)) (cells []T, err error) {
	err = t.Scan(dir, func(rows []T) error {
		for i := range rows {
			drop(&rows[i])
		}
		cells = append(cells, rows...)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) && !need {
		return nil, nil
	}
	return cells, err
}

// refuseWarmUp refuses to cut dispatch anew, whose requests are not kept.
func (o Options) refuseWarmUp(in *rows) error {
	if o.WarmUp == nil || len(in.dispatched) == 0 || in.dispatched[0].WarmUp == *o.WarmUp {
		return nil
	}
	return fmt.Errorf("table dispatch was measured with warm-up %v and keeps no requests to measure it anew with %v; change warm_up in the experiment file and run it again",
		in.dispatched[0].WarmUp, *o.WarmUp)
}

// analyse is Run without files, for cells of the job simulate alone.
func analyse(cells []simulate.Cell, extras map[int32]*extra, o Options) (*Result, error) {
	in := rows{served: cells, extras: extras}
	return in.analyse(o)
}

// configurations gathers the cells of all jobs.
func (in *rows) configurations() ([]*configuration, error) {
	simulated, err := gatherServed(in.served)
	if err != nil {
		return nil, err
	}
	balls, err := gatherThrown(in.thrown)
	if err != nil {
		return nil, err
	}
	dispatch, err := gatherDispatched(in.dispatched)
	if err != nil {
		return nil, err
	}
	selections, err := gatherChosen(in.chosen)
	if err != nil {
		return nil, err
	}
	deployments, err := gatherDeployed(in.deployed)
	return slices.Concat(simulated, balls, dispatch, selections, deployments), err
}

// analyse is Run without files.
func (in *rows) analyse(o Options) (*Result, error) {
	configs, err := in.configurations()
	if err != nil {
		return nil, err
	}
	missing := findMissing(configs, o)
	if len(missing.Of) > 0 && !o.AllowMissing {
		return nil, missing
	}
	for _, c := range configs {
		c.judge()
		var x *extra
		if c.Job == experiment.Simulate {
			x = in.extras[c.Config]
		}
		c.doubt(x, missing)
	}
	points := pointsOf(configs)
	if err := setBaselines(points, o.Baseline); err != nil {
		return nil, err
	}
	result := &Result{points: points, Warnings: nothing(configs)}
	result.Summary = make([]Summary, 0, len(configs)*len(metrics))
	for _, c := range configs {
		result.Summary = c.summarise(result.Summary)
	}
	result.Comparisons = make([]Comparison, 0, len(configs)*len(metrics))
	for _, p := range points {
		result.Comparisons = p.compare(result.Comparisons)
		if p.wanted != "" && p.baseline == nil {
			result.Warnings = append(result.Warnings, fmt.Sprintf("%s has no run of baseline %s: nothing is compared there", p.name(), p.wanted))
		}
	}
	sortComparisons(result.Comparisons)
	for _, m := range missing.Of {
		result.Warnings = append(result.Warnings, "incomplete: "+m.String())
	}
	return result, nil
}

// sortComparisons puts the rows of each job, which follow each other, in order
// of their configurations; they are where routers are the fastest axis.
func sortComparisons(all []Comparison) {
	byConfig := func(a, b Comparison) int { return cmp.Compare(a.Config, b.Config) }
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Job == all[0].Job {
			n++
		}
		if !slices.IsSortedFunc(all[:n], byConfig) {
			slices.SortStableFunc(all[:n], byConfig)
		}
		all = all[n:]
	}
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
