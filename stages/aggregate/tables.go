package aggregate

import "switchyard/stages/table"

// Where says which configuration a row is about.
type Where struct {
	Job           string            `parquet:"job,dict" doc:"simulate (table cells), balls or dispatch (the tables of these names), choose (table selections), or serve (table served)"`
	Config        int32             `parquet:"config,delta" doc:"position of the configuration in the job's grid, as in the job's table; of serve 3 times that, plus 0, 1 or 2 for what is chosen; with job the sort order"`
	Workload      string            `parquet:"workload,dict" doc:"name of the workload variant; of the system in dispatch and choose, of the system in its world in serve, of the setting in balls"`
	Cluster       string            `parquet:"cluster,dict" doc:"name of the cluster variant, of the world in choose, of serving in serve; empty in other jobs"`
	Router        string            `parquet:"router,dict" doc:"name of the router, dispatch policy or optimiser variant; in serve what an assignment is the best in; empty in balls"`
	WorkloadPoint string            `parquet:"workload_point,dict" doc:"workload with its swept values"`
	ClusterPoint  string            `parquet:"cluster_point,dict" doc:"cluster with its swept values"`
	RouterPoint   string            `parquet:"router_point,dict" doc:"router with its swept values: what is compared"`
	Replicas      int32             `parquet:"replicas,delta" symbol:"N" doc:"replicas in the cluster, or servers; 0 in balls and choose"`
	RateRps       *float64          `parquet:"rate_rps" unit:"1/s" symbol:"λ" doc:"offered mean arrival rate over all replicas; NULL for traces and closed loops, and in other jobs than simulate"`
	Factors       map[string]string `parquet:"factors" doc:"every swept value of the experiment file, by factor name"`
	WarmUp        float64           `parquet:"warm_up" unit:"share" doc:"share of the arrivals before the window, those that arrive first; differs from that of cells where the window was cut anew"`
	Metric        string            `parquet:"metric,dict" doc:"column of the job's table that the row is about"`
	Unit          string            `parquet:"unit,dict" doc:"the metric's unit"`
	Better        string            `parquet:"better,dict" doc:"which direction of the metric is good: lower, higher or none"`
}

// Summary is a row of table `summary`.
type Summary struct {
	Where
	N           int32    `parquet:"n,delta" symbol:"n" doc:"replications in which the metric has a value; in choose pools of all replications, each with the mean over its starts"`
	Mean        *float64 `parquet:"mean" doc:"mean over those replications"`
	Lo          *float64 `parquet:"lo" doc:"lower end of the mean's 95 % Student t interval over replications; NULL with one"`
	Hi          *float64 `parquet:"hi" doc:"upper end of that interval"`
	SD          *float64 `parquet:"sd" symbol:"s" doc:"standard deviation over replications; NULL with one"`
	Pooled      *float64 `parquet:"pooled" doc:"for quantiles: type-7 quantile of the measured requests of all replications together; NULL for other metrics and where table requests does not hold all"`
	Requests    int64    `parquet:"requests_measured,delta" symbol:"m" doc:"measured requests, balls, or runs of an optimiser, over all replications"`
	Saturated   bool     `parquet:"saturated" doc:"the configuration cannot keep up with its arrivals: completions below 98 % of those that were not turned away, or a backlog whose growth exceeds 1 % of the arrival rate by its 95 % lower bound; in dispatch, a load that no steady state has or, where stability is open, a backlog and response times that both grow"`
	Theory      *float64 `parquet:"theory" doc:"value in theory, in steady state; NULL where none is known"`
	TheoryModel *string  `parquet:"theory_model,dict" doc:"the model that it comes from, such as M/M/1"`
	TheoryKind  *string  `parquet:"theory_kind,dict" doc:"exact, or mean-field: the limit of many servers or bins"`
	Deviation   *float64 `parquet:"deviation_se" unit:"standard error" doc:"(mean - theory) / (sd / sqrt n); beyond 2 chance is hardly enough, but theory is of the steady state, below which a run that starts empty lies, and a mean-field value is a limit; NULL with one replication"`
	Warnings    []string `parquet:"warnings" doc:"statistical doubts about this row"`
}

// Comparison is a row of table `comparisons`.
type Comparison struct {
	Where
	Baseline          string   `parquet:"baseline,dict" doc:"router_point of the baseline's configuration"`
	BaselineConfig    int32    `parquet:"baseline_config,delta" doc:"its position in the grid"`
	N                 int32    `parquet:"n,delta" symbol:"n" doc:"pairs: replications in which both sides have a value"`
	Mean              *float64 `parquet:"mean" doc:"mean over the pairs"`
	BaselineMean      *float64 `parquet:"baseline_mean" doc:"the baseline's mean over the pairs"`
	Difference        *float64 `parquet:"difference" doc:"mean - baseline_mean"`
	DifferenceLo      *float64 `parquet:"difference_lo" doc:"lower end of its 95 % paired t interval; NULL with one pair"`
	DifferenceHi      *float64 `parquet:"difference_hi" doc:"upper end of that interval"`
	P                 *float64 `parquet:"p" doc:"two-sided p value of the paired t test of no difference; NULL with one pair"`
	PHolm             *float64 `parquet:"p_holm" doc:"p corrected by Holm over the routers compared with this baseline in this metric at this workload_point and cluster_point"`
	Family            int32    `parquet:"family,delta" doc:"number of p values in that correction"`
	Ratio             *float64 `parquet:"ratio" doc:"mean / baseline_mean; NULL where either side is saturated, some value is negative, or the baseline's mean is zero"`
	RatioLo           *float64 `parquet:"ratio_lo" doc:"lower end of the ratio's 95 % interval by Fieller; NULL also where the data do not bound it"`
	RatioHi           *float64 `parquet:"ratio_hi" doc:"upper end of that interval"`
	RatioMedian       *float64 `parquet:"ratio_median" doc:"median over the pairs of their ratios; NULL where ratio is"`
	Saturated         bool     `parquet:"saturated" doc:"the configuration is saturated, see summary"`
	BaselineSaturated bool     `parquet:"baseline_saturated" doc:"the baseline's configuration is saturated"`
	Warnings          []string `parquet:"warnings" doc:"statistical doubts about this row"`
}

// SummaryTable holds one row a configuration and metric.
var SummaryTable = table.New[Summary]("summary", "each metric of each configuration over its replications: mean with interval")

// ComparisonTable holds one row a configuration and metric, the baseline's own
// left out.
var ComparisonTable = table.New[Comparison]("comparisons", "each configuration against the baseline router's at the same point, paired by replication")

// Tables returns the tables that this stage writes.
func Tables() []table.Definition { return []table.Definition{SummaryTable, ComparisonTable} }
