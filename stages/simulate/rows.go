package simulate

import (
	"math"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/stages/experiment"
)

// cellRow returns the row of a planned cell, before anything is measured.
func (p *Plan) cellRow(r *Run) Cell {
	e, c := p.Experiment, r.Config
	row := Cell{
		CellKey: r.Key, Seed: int64(e.Seed), Replication: int32(r.Replication),
		Policy: c.Router.Policy.Name, Model: c.Cluster.Hardware.Model.Name, GPU: c.Cluster.Hardware.GPU.Name,
		TensorParallel: int32(c.Cluster.Params.TensorParallel), Replicas: int32(c.Cluster.Params.Replicas),
		RequestsShare: share(e.Tables), KVCapacity: c.Cluster.Config.KVTokens,
	}
	if rate := c.Workload.RateRps(); rate > 0 {
		row.RateRps = &rate
	}
	p.label(&row, r.Index)
	return row
}

// label gives a row what depends on the experiment file alone and is no part
// of the cell's key, so that the rows of an earlier run, taken over by their
// key, read as the file stands now.
func (p *Plan) label(row *Cell, index int32) {
	c := p.Runs[index].Config
	row.Cell, row.Config = index, c.Index
	row.Workload, row.Cluster, row.Router = c.Workload.Name, c.Cluster.Name, c.Router.Name
	row.WorkloadPoint, row.ClusterPoint, row.RouterPoint = c.WorkloadPoint, c.ClusterPoint, c.RouterPoint
	row.Variant, row.Source = c.Workload.ID(), c.Workload.Source()
	row.Factors = c.Factors
}

// share returns the share of requests that the experiment keeps.
func share(t experiment.Tables) float64 {
	switch t.Requests {
	case "all":
		return 1
	case "sample":
		return t.Sample
	}
	return 0
}

// setState fills the columns of a cell that come from its replicas, and
// its load.
func (c *Cell) setState(r *cluster.Result, load float64) {
	n := float64(len(r.Replicas))
	window := float64(r.LastArrivalNs - r.WindowStartNs)
	var busy, kv, peak float64
	c.EvictedTokens, c.Steps = 0, 0
	for i := range r.Replicas {
		all := &r.Replicas[i]
		c.EvictedTokens += all.Evicted
		c.Steps += all.Steps
		peak = max(peak, float64(all.PeakKV))
	}
	for i := range r.Window {
		busy += float64(r.Window[i].BusyNs)
		kv += r.Window[i].KVTimeNs
	}
	f := make(numbers, 0, 5)
	c.Utilisation = f.of(ratio(busy, window*n))
	c.Load = f.of(load)
	c.KVMean = f.of(ratio(kv, window*n*float64(c.KVCapacity)))
	c.KVPeak = f.of(ratio(peak, float64(c.KVCapacity)))
	c.Duplication = f.of(r.Duplication)
}

// appendReplicas appends the rows of table `replicas`.
func appendReplicas(rows []Replica, cell int32, r *cluster.Result) []Replica {
	window := float64(r.LastArrivalNs - r.WindowStartNs)
	f := make(numbers, 0, 5*len(r.Replicas))
	for i := range r.Replicas {
		all := &r.Replicas[i]
		in := engine.Stats{KVTimeNs: math.NaN(), QueueTimeNs: math.NaN(), SystemTimeNs: math.NaN()}
		if i < len(r.Window) {
			in = r.Window[i]
		}
		rows = append(rows, Replica{
			Cell: cell, Replica: int32(i), Requests: all.Requests,
			PromptTokens: all.PromptTokens, CachedTokens: all.CachedTokens, HostTokens: all.HostTokens, OutputTokens: all.OutputTokens,
			ComputedTokens: all.PromptTokens - all.CachedTokens - all.HostTokens + all.OutputTokens,
			Steps:          all.Steps, BusyUs: all.BusyNs / 1000, KVPeakTokens: all.PeakKV, EvictedTokens: all.Evicted,
			HitRate:      f.of(ratio(float64(all.CachedTokens), float64(all.PromptTokens))),
			Utilisation:  f.of(ratio(float64(in.BusyNs), window)),
			KVMeanTokens: f.of(ratio(in.KVTimeNs, window)),
			QueueMean:    f.of(ratio(in.QueueTimeNs, window)),
			SystemMean:   f.of(ratio(in.SystemTimeNs, window)),
		})
	}
	return rows
}

// appendRequests appends the rows of table `requests` that belong to the
// share; they point into the meter.
func appendRequests(rows []Request, cell int32, m *Meter, share float64) []Request {
	if share <= 0 {
		return rows
	}
	m.toFirst, m.toEnd = grow(m.toFirst, len(m.arrival)), grow(m.toEnd, len(m.arrival))
	for i := range m.arrival {
		if share < 1 && uniform(uint64(i)) >= share {
			continue
		}
		row := Request{
			Cell: cell, Request: int32(i), Replica: m.replica[i], Status: statusNames[m.status[i]], ArrivalUs: m.arrival[i],
			StartedUs: moment(&m.start[i]), FirstTokenUs: moment(&m.first[i]), FinishedUs: moment(&m.finish[i]),
			PromptTokens: m.prompt[i], OutputTokens: m.output[i], CachedTokens: m.cached[i],
			HostTokens: m.host[i], BestCachedTokens: m.best[i], CeilingTokens: m.ceiling[i],
			UnlimitedTokens: m.unlimited[i], DispatchedTokens: m.dispatched[i], InWindow: m.in[i],
		}
		if m.believed[i] >= 0 {
			row.BelievedTokens = &m.believed[i]
		}
		if m.preemptions != nil {
			row.Preemptions = int32(m.preemptions[i])
		}
		if row.FirstTokenUs != nil {
			m.toFirst[i] = m.first[i] - m.arrival[i]
			row.TTFTUs = &m.toFirst[i]
		}
		if m.status[i] == finished && row.FinishedUs != nil {
			m.toEnd[i] = m.finish[i] - m.arrival[i]
			row.E2EUs = &m.toEnd[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// uniform maps a request's index to [0, 1) by the finaliser of SplitMix64
// (Steele, Lea and Flood, 2014): a sample has the same requests in every cell.
func uniform(x uint64) float64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) * 0x1p-53
}
