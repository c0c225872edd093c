package queueing

// DispatchRow is a row of table `dispatch`: one run of a system of servers
// under a policy, in one replication. Times are in the unit of the sizes, whose
// mean is 1 unless the experiment file says otherwise. Columns with the tag
// better are metrics, which aggregate averages and compares; the tag theory
// names the column with the metric's value in theory.
type DispatchRow struct {
	Cell          int32  `parquet:"cell,delta" doc:"position of the cell in the grid of dispatch x policies, replication fastest; sort order"`
	CellKey       string `parquet:"cell_key" doc:"sha256 over seed, replication, warm-up, system, policy and stage version, without names and defaults"`
	Config        int32  `parquet:"config,delta" doc:"position of the configuration (the cell without its replication) in that grid"`
	Seed          int64  `parquet:"seed,delta" doc:"the experiment's seed"`
	Replication   int32  `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Workload      string `parquet:"workload,dict" doc:"name of the system: a variant of section dispatch"`
	Router        string `parquet:"router,dict" doc:"name of the policy variant: one of section policies"`
	WorkloadPoint string `parquet:"workload_point,dict" doc:"system with its swept values"`
	RouterPoint   string `parquet:"router_point,dict" doc:"policy variant with its swept values"`

	Policy      string            `parquet:"policy,dict" doc:"dispatch policy of the variant"`
	Parameters  string            `parquet:"parameters,dict" doc:"the policy's parameters that are not at their default"`
	Servers     int32             `parquet:"servers,delta" symbol:"N" doc:"servers"`
	Speeds      []float64         `parquet:"speeds" doc:"speeds, repeated in turn over the servers; empty where all are 1"`
	Discipline  string            `parquet:"discipline,dict" doc:"how a server serves: fcfs (first come first served) or ps (all at once in equal shares)"`
	Load        float64           `parquet:"load" symbol:"ρ" doc:"work that arrives over what all servers can do"`
	Rate        float64           `parquet:"rate" unit:"1/time" symbol:"λ" doc:"mean arrivals in a unit of time"`
	Arrivals    string            `parquet:"arrivals,dict" doc:"arrival process with its parameters that are not at their default"`
	Sizes       string            `parquet:"sizes,dict" doc:"law of the sizes with its parameters that are not at their default"`
	SizeMean    float64           `parquet:"size_mean" unit:"time" symbol:"E[S]" doc:"mean of that law, in the unit of time"`
	SizeSCV     *float64          `parquet:"size_scv" symbol:"C²" doc:"squared coefficient of variation of that law; NULL where it is infinite"`
	Information string            `parquet:"information,dict" doc:"how the servers' states reach the dispatcher: live, periodic, continuous, continuous-exponential, individual or own"`
	Age         float64           `parquet:"age" unit:"mean size" symbol:"T" doc:"time between refreshes, or age of what is seen; 0 = live"`
	Corrections bool              `parquet:"corrections" doc:"a dispatcher adds what it has sent itself since the state that it sees"`
	Dispatchers int32             `parquet:"dispatchers,delta" doc:"dispatchers that do not see each other"`
	Factors     map[string]string `parquet:"factors" doc:"every swept value of the experiment file, by factor name"`

	WarmUp        float64  `parquet:"warm_up" unit:"share" doc:"share of arrivals left out, by arrival index"`
	Requests      int64    `parquet:"requests,delta" symbol:"n" doc:"requests that arrived, those of the warm-up included; all are served to the end"`
	Measured      int64    `parquet:"requests_measured,delta" symbol:"m" doc:"requests after the warm-up: those behind the times"`
	Saturated     bool     `parquet:"saturated" doc:"nothing settles, as is known before the run: more work arrives than the servers can do or, under a policy that does not look or draws a few servers, than some of them can"`
	Stability     string   `parquet:"stability,dict" doc:"what is known before the run: stable, unstable (saturated), or open: no condition is known, and summary judges by backlog_growth"`
	QuantileError float64  `parquet:"quantile_error" unit:"ratio" doc:"greatest relative error of the quantiles: 0 = exact (type 7, as DuckDB's quantile_cont), else from a sketch of fixed bins"`
	Warnings      []string `parquet:"warnings" doc:"statistical doubts about this row"`

	Theory      *string  `parquet:"theory,dict" doc:"the queue in steady state behind the columns theory_*, such as M/M/1; NULL where no formula is known"`
	TheoryKind  *string  `parquet:"theory_kind,dict" doc:"exact, or mean-field: the limit of many servers"`
	TheoryMean  *float64 `parquet:"theory_response_mean" unit:"time" doc:"mean response time in theory; NULL where it is infinite or not known, as are the others"`
	TheoryP50   *float64 `parquet:"theory_response_p50" unit:"time" doc:"median response time in theory"`
	TheoryP90   *float64 `parquet:"theory_response_p90" unit:"time" doc:"0.90 quantile of the response time in theory"`
	TheoryP95   *float64 `parquet:"theory_response_p95" unit:"time" doc:"0.95 quantile of the response time in theory"`
	TheoryP99   *float64 `parquet:"theory_response_p99" unit:"time" doc:"0.99 quantile of the response time in theory"`
	TheoryP999  *float64 `parquet:"theory_response_p999" unit:"time" doc:"0.999 quantile of the response time in theory"`
	TheoryWait  *float64 `parquet:"theory_wait_mean" unit:"time" doc:"mean wait in theory, where all speeds are 1"`
	TheorySlow  *float64 `parquet:"theory_slowdown_mean" doc:"mean slowdown in theory, 1/(1-load) under processor sharing where all speeds are 1"`
	TheoryUsage *float64 `parquet:"theory_utilisation" doc:"the load, where there is a theory"`

	ResponseMean *float64 `parquet:"response_mean" unit:"time" better:"lower" theory:"theory_response_mean" symbol:"R" doc:"mean response time, arrival to end of service"`
	ResponseSD   *float64 `parquet:"response_sd" unit:"time" better:"lower" doc:"standard deviation of the response time over the requests of the run"`
	ResponseP50  *float64 `parquet:"response_p50" unit:"time" better:"lower" theory:"theory_response_p50" doc:"median response time"`
	ResponseP90  *float64 `parquet:"response_p90" unit:"time" better:"lower" theory:"theory_response_p90" doc:"0.90 quantile of the response time"`
	ResponseP95  *float64 `parquet:"response_p95" unit:"time" better:"lower" theory:"theory_response_p95" doc:"0.95 quantile of the response time"`
	ResponseP99  *float64 `parquet:"response_p99" unit:"time" better:"lower" theory:"theory_response_p99" doc:"0.99 quantile of the response time"`
	ResponseP999 *float64 `parquet:"response_p999" unit:"time" better:"lower" theory:"theory_response_p999" doc:"0.999 quantile of the response time"`
	ResponseMax  *float64 `parquet:"response_max" unit:"time" better:"lower" doc:"longest response time"`
	WaitMean     *float64 `parquet:"wait_mean" unit:"time" better:"lower" theory:"theory_wait_mean" symbol:"W" doc:"mean response time less the server's own time for the size: under fcfs the time before service"`
	Slowdown     *float64 `parquet:"slowdown_mean" better:"lower" theory:"theory_slowdown_mean" doc:"mean of response time over size, without sizes of 0; NULL under fcfs with sizes whose E[1/S] is infinite (exponential, hyperexponential, one erlang stage, uniform from 0): it has no mean"`
	Utilisation  *float64 `parquet:"utilisation" better:"none" theory:"theory_utilisation" doc:"share of the time from the first measured arrival to the last in which a server worked, mean over servers weighted by speed"`
	Realised     *float64 `parquet:"load_realised" better:"none" doc:"work that arrived from the first measured request to the last over what all servers could do in that time: load, up to chance"`
	Imbalance    *float64 `parquet:"load_imbalance" better:"lower" doc:"the busiest server's share of that time over the mean share"`
	Drift        *float64 `parquet:"response_drift" unit:"ratio" better:"none" doc:"mean response time of the second half of the measured requests over the first half's, less 1: far from 0 in many replications, nothing has settled"`
	Growth       *float64 `parquet:"backlog_growth" unit:"ratio" better:"none" doc:"growth of the work that is not done over the second half of the measured requests, over the work that arrives in it; NULL where that is shorter than ten mean services at the slowest server and ten ages of information"`

	Cutoffs       []float64 `parquet:"cutoffs" unit:"time" doc:"sita-e: the largest size of each server but the last; empty under other policies"`
	ClassUpTo     []float64 `parquet:"class_upto" unit:"time" doc:"quarters of the law of sizes: the largest size in each, infinity for the last"`
	ClassRequests []int64   `parquet:"class_requests" doc:"measured requests of each class"`
	ClassMean     []float64 `parquet:"class_response_mean" unit:"time" doc:"mean response time of each class; NaN where it is empty"`
	ClassP99      []float64 `parquet:"class_response_p99" unit:"time" doc:"0.99 quantile of each class, by bins, within 0.2 %"`
	ClassSlowdown []float64 `parquet:"class_slowdown_mean" doc:"mean slowdown of each class; NaN where it is empty, and in the first where slowdown_mean is NULL for want of a mean"`
	ServerCount   []int64   `parquet:"server_requests" doc:"measured requests that each server got"`
	ServerUsage   []float64 `parquet:"server_utilisation" doc:"share of the time between the first and the last measured arrival in which each server worked"`
	Lengths       []float64 `parquet:"length_tail" doc:"share of servers with at least 0, 1, 2, ... requests, as arrivals see them; empty where policy and discipline keep no count"`
}

// Place makes the row the cell at that position of the grid.
func (r *DispatchRow) Place(index int32) { r.Cell = index }

// WithoutLists drops the lists, of which those of servers are as long as there
// are servers, for those who keep many rows.
func (r *DispatchRow) WithoutLists() {
	r.ClassUpTo, r.ClassRequests, r.ClassMean, r.ClassP99, r.ClassSlowdown = nil, nil, nil, nil, nil
	r.ServerCount, r.ServerUsage, r.Lengths, r.Cutoffs = nil, nil, nil, nil
}
