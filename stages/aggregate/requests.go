package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"switchyard/stages/experiment"
	"switchyard/stages/simulate"
	"switchyard/stages/stats"
)

// leastAveraged is the number of replications from which their average series
// is smooth enough for MSER-5: on fewer it cuts where chance is low.
const leastAveraged = 5

// extra is what the requests of a configuration say beyond its cells.
type extra struct {
	pooled []float64 // of each metric, NaN where it is no quantile
	exact  bool      // whether the pooled quantiles have no sketch's error
	// What MSER-5 on the average of the replications' E2E latencies would cut,
	// in requests; and the average of the rest, and after the cut in use.
	averaged, length int
	cut              int
	settled          bool
	restUs, usedUs   float64
}

// measure is how the cells are to be measured; nil leaves each as it is.
type measure struct {
	warmUp *float64
	slo    *experiment.SLO
}

// measureOf takes the warm-up from the options, else from the plan, and the
// objective from the plan: cells that a folder holds from before the
// experiment file changed have the old ones.
func measureOf(o Options) measure {
	var m measure
	if o.Plan != nil {
		e := *o.Plan.Experiment
		m.warmUp, m.slo = &e.WarmUp, &e.SLO
	}
	if o.WarmUp != nil {
		m.warmUp = o.WarmUp
	}
	return m
}

// of returns the measure of a cell, and whether the cell has another.
func (m measure) of(c *simulate.Cell) (warmUp float64, slo experiment.SLO, anew bool) {
	warmUp, slo = c.WarmUp, objective(c)
	if m.warmUp != nil {
		warmUp = *m.warmUp
	}
	if m.slo != nil {
		slo = *m.slo
	}
	return warmUp, slo, warmUp != c.WarmUp || slo != objective(c)
}

// objective returns the objective that a cell was measured with.
func objective(c *simulate.Cell) experiment.SLO {
	return experiment.SLO{TTFTMs: c.SLOTTFTMs, TPOTMs: c.SLOTPOTMs, E2EMs: c.SLOE2EMs}
}

// describe writes a measure as an experiment file does.
func describe(warmUp float64, slo experiment.SLO) string {
	return fmt.Sprintf("warm_up: %v and slo: {ttft_ms: %v, tpot_ms: %v, e2e_ms: %v}", warmUp, slo.TTFTMs, slo.TPOTMs, slo.E2EMs)
}

// readRequests reads the requests of the cells that keep all of theirs, pools
// them by configuration, and measures anew, in place, the cells that have
// another measure than asked for. It reads nothing where no cell keeps them,
// and refuses where one that has to be measured anew does not.
func readRequests(dir string, cells []simulate.Cell, m measure) (map[int32]*extra, error) {
	r := &reader{measure: m, cells: map[int32]*simulate.Cell{}, extras: map[int32]*extra{}}
	for i := range cells {
		c := &cells[i]
		if c.RequestsShare == 1 {
			r.cells[c.Cell] = c
		} else if warmUp, slo, anew := m.of(c); anew {
			return nil, fmt.Errorf("cells of %s / %s / %s have %s, expected %s: measuring them anew needs all their requests, of which table requests keeps a share of %v; run the experiment again as its file is now, or with tables: {requests: all}",
				c.WorkloadPoint, c.ClusterPoint, c.RouterPoint, describe(c.WarmUp, objective(c)), describe(warmUp, slo), c.RequestsShare)
		}
	}
	if len(r.cells) == 0 {
		return nil, nil
	}
	if err := simulate.Requests.Scan(dir, r.batch); err != nil {
		return nil, err
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	if r.seen < len(r.cells) {
		return nil, fmt.Errorf("table requests holds %d of the %d cells that keep their requests; run the experiment again to complete it", r.seen, len(r.cells))
	}
	return r.extras, nil
}

// reader goes through table `requests`, one cell after the other. The cells of
// a configuration follow each other, because replications are the grid's
// fastest axis.
type reader struct {
	measure measure
	cells   map[int32]*simulate.Cell // that keep all requests
	extras  map[int32]*extra
	seen    int

	rows   []simulate.Request // of the current cell
	meter  simulate.Meter
	config int32 // of the pools
	reps   int
	pools  [samples]stats.Pool
	sum    []float64 // of E2E latencies by rank of arrival, over replications
	n      []int32
	warmUp float64
}

func (r *reader) batch(rows []simulate.Request) error {
	for i := 0; i < len(rows); {
		if len(r.rows) > 0 && r.rows[0].Cell != rows[i].Cell {
			if err := r.cell(); err != nil {
				return err
			}
		}
		j := i + 1
		for j < len(rows) && rows[j].Cell == rows[i].Cell {
			j++
		}
		r.rows = append(r.rows, rows[i:j]...)
		i = j
	}
	return nil
}

func (r *reader) finish() error {
	if len(r.rows) > 0 {
		if err := r.cell(); err != nil {
			return err
		}
	}
	r.close()
	return nil
}

// cell measures the gathered rows of one cell and adds them to its
// configuration's pools.
func (r *reader) cell() error {
	rows := r.rows
	r.rows = r.rows[:0]
	cell := r.cells[rows[0].Cell]
	if cell == nil {
		return nil // a sample
	}
	if r.reps == 0 || cell.Config != r.config {
		r.close()
		if r.extras[cell.Config] != nil {
			return fmt.Errorf("table requests is not in the order of the grid; run the experiment again to sort it")
		}
		r.config = cell.Config
	}
	r.seen++
	r.reps++
	r.meter.Rows(rows, cell.Replicas)
	warmUp, slo, anew := r.measure.of(cell)
	m := r.meter.Measure(warmUp, slo)
	if moved := warmUp != cell.WarmUp; m.Requests != cell.Requests || !moved && m.Measured != cell.Measured {
		return fmt.Errorf("table requests does not match cells: cell %d has %d requests of %d; run the experiment again", cell.Cell, m.Requests, cell.Requests)
	}
	r.pool()
	r.average(rows)
	if warmUp != cell.WarmUp {
		// State of the old window, which requests do not tell.
		cell.Utilisation, cell.Load, cell.KVMean = nil, nil, nil
	}
	if anew {
		cell.SetMetrics(&m)
	}
	r.warmUp = warmUp
	return nil
}

func (r *reader) pool() {
	ttfts, e2es, queues, tpots := r.meter.Samples()
	for _, of := range []struct {
		sample sample
		values []int64
	}{{ttft, ttfts}, {e2e, e2es}, {queue, queues}} {
		for _, v := range of.values {
			r.pools[of.sample].Add(float64(v))
		}
	}
	for _, v := range tpots {
		r.pools[tpot].Add(v)
	}
}

// average adds the cell's latencies to the series over arrivals. It sorts the
// rows of a closed loop, in which requests may overtake each other.
func (r *reader) average(rows []simulate.Request) {
	byArrival := func(a, b simulate.Request) int {
		return cmp.Or(cmp.Compare(a.ArrivalUs, b.ArrivalUs), cmp.Compare(a.Request, b.Request))
	}
	if !slices.IsSortedFunc(rows, byArrival) {
		slices.SortFunc(rows, byArrival)
	}
	for len(r.sum) < len(rows) {
		r.sum, r.n = append(r.sum, 0), append(r.n, 0)
	}
	for k := range rows {
		if us := rows[k].E2EUs; us != nil {
			r.sum[k] += float64(*us)
			r.n[k]++
		}
	}
}

// close turns the pools into the configuration's extra and empties them.
func (r *reader) close() {
	if r.reps == 0 {
		return
	}
	x := &extra{pooled: make([]float64, len(metrics)), averaged: r.reps, exact: true}
	for i := range metrics {
		x.pooled[i] = math.NaN()
		if m := &metrics[i]; m.sample != noSample {
			x.pooled[i] = r.pools[m.sample].Quantile(m.q)
			x.exact = x.exact && r.pools[m.sample].Exact()
		}
	}
	x.settle(r.series(), r.warmUp)
	r.extras[r.config] = x
	for s := range r.pools {
		r.pools[s].Reset()
	}
	r.sum, r.n, r.reps = r.sum[:0], r.n[:0], 0
}

// series returns the mean latency by rank of arrival, over the replications in which
// it finished, in place of the sums.
func (r *reader) series() []float64 {
	out := r.sum[:0]
	for i, n := range r.n {
		if n > 0 {
			out = append(out, r.sum[i]/float64(n))
		}
	}
	return out
}

// settle asks MSER-5 about the series.
func (x *extra) settle(series []float64, warmUp float64) {
	x.length = len(series)
	used := simulate.CutAt(warmUp, x.length)
	x.cut, x.settled = stats.MSER5(series)
	x.usedUs, x.restUs = stats.Mean(series[used:]), stats.Mean(series[x.cut:])
}

// doubtWarmUp returns what the extra says against the window in use, given the
// half-width of the mean latency's interval: a longer cut is worth a word where
// it moves the mean by more than chance does.
func (x *extra) doubtWarmUp(warmUp, half float64) []string {
	if x.averaged < leastAveraged || x.length < 50 {
		return nil
	}
	share := float64(x.cut) / float64(x.length)
	if share <= warmUp || !(math.Abs(x.restUs-x.usedUs) > half) {
		return nil
	}
	if !x.settled {
		return []string{"latency does not settle within the run (MSER-5): run longer"}
	}
	return []string{fmt.Sprintf("warm-up may be short: MSER-5 would cut %.0f %% instead of %.0f %% and move mean E2E by %+.1f %%",
		100*share, 100*warmUp, 100*(x.restUs/x.usedUs-1))}
}
