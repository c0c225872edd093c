package capacity

import "switchyard/stages/table"

// Where says which search a row is about.
type Where struct {
	Search        int32             `parquet:"search,delta" doc:"position of the search among those of the experiment; sort order"`
	Workload      string            `parquet:"workload,dict" doc:"name of the workload variant"`
	Cluster       string            `parquet:"cluster,dict" doc:"name of the cluster variant"`
	Router        string            `parquet:"router,dict" doc:"name of the router variant"`
	WorkloadPoint string            `parquet:"workload_point,dict" doc:"workload variant with its swept values, but for the load"`
	ClusterPoint  string            `parquet:"cluster_point,dict" doc:"cluster variant with its swept values"`
	RouterPoint   string            `parquet:"router_point,dict" doc:"router variant with its swept values"`
	Factors       map[string]string `parquet:"factors" doc:"every swept value of the experiment file but the load, by factor name"`
	Axis          string            `parquet:"axis,dict" doc:"what the load is: arrivals.rate_rps, requests a second over all replicas; speed or arrivals.speed, times faster than the trace was recorded"`
}

// Probe is a row of table `probes`: one load that a search has tried. lo and hi
// are the search's bracket after it.
type Probe struct {
	Where
	Step         int32    `parquet:"step,delta" doc:"place in the search, from 0"`
	Load         float64  `parquet:"load" unit:"axis" doc:"the load that was tried"`
	Carried      bool     `parquet:"carried" doc:"whether something is served, it is not saturated and, where an attainment is asked for, meets the objective"`
	Saturated    bool     `parquet:"saturated" doc:"whether it is saturated, by the rule of aggregate over all replications"`
	Replications int32    `parquet:"replications,delta" doc:"replications that it ran"`
	Completion   *float64 `parquet:"completion_ratio" unit:"ratio" doc:"completions over arrivals that were not turned away, in the windows of all replications"`
	Attainment   *float64 `parquet:"slo_attainment" unit:"share" doc:"of the requests that arrived in the windows, those that met the objective"`
	MeanE2EUs    *float64 `parquet:"e2e_mean_us" unit:"us" doc:"mean end-to-end latency over the requests of all replications"`
	Lo           *float64 `parquet:"lo" unit:"axis" doc:"greatest load that is known to be carried; NULL while there is none"`
	Hi           *float64 `parquet:"hi" unit:"axis" doc:"least load that is known not to be; NULL while there is none"`
}

// Place moves the row to the probe of that index.
func (p *Probe) Place(index int32) { p.Search, p.Step = index/mostProbes, index%mostProbes }

// Found is a row of table `capacity`: what a search has come to.
type Found struct {
	Where
	Replicas     int32    `parquet:"replicas,delta" symbol:"N" doc:"replicas in the cluster"`
	Capacity     *float64 `parquet:"capacity" unit:"axis" doc:"largest load that was found to be carried: lo; NULL where none was, or where no load was too much"`
	Lo           *float64 `parquet:"lo" unit:"axis" doc:"greatest load that was carried; NULL where none was"`
	Hi           *float64 `parquet:"hi" unit:"axis" doc:"least load that was not; NULL where all were"`
	Asked        float64  `parquet:"slo_asked" unit:"share" doc:"attainment of the objective that was asked for; 0 = none, stability alone"`
	Tolerance    float64  `parquet:"tolerance" unit:"ratio" doc:"hi / lo - 1 at which the search ends"`
	MeanE2EUs    *float64 `parquet:"e2e_mean_us" unit:"us" doc:"mean end-to-end latency at the capacity"`
	Attainment   *float64 `parquet:"slo_attainment" unit:"share" doc:"attainment of the objective at the capacity"`
	Replications int32    `parquet:"replications,delta" doc:"replications of each probe"`
	Iterations   int32    `parquet:"iterations,delta" doc:"probes of the search"`
	Seed         int64    `parquet:"seed,delta" doc:"the experiment's seed"`
}

// Place moves the row to the search of that index.
func (f *Found) Place(index int32) { f.Search = index }

// The stage's tables.
var (
	Capacities = table.New[Found]("capacity", "The largest load that each workload, cluster and router carries.")
	Probes     = table.New[Probe]("probes", "The loads that the searches for capacities have tried.")
)

// Tables lists the tables that the stage writes.
func Tables() []table.Definition { return []table.Definition{Capacities, Probes} }
