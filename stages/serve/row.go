package serve

// Where says which cell a row is about. The columns from cell_key to pool are a
// function of the cell alone.
type Where struct {
	Cell         int32             `parquet:"cell,delta" doc:"position of the cell in the grid of systems x worlds x serving, replication fastest; sort order"`
	CellKey      string            `parquet:"cell_key,dict" doc:"sha256 over seed, replication, system, world, optimisers, serving and stage version, without names and defaults"`
	Config       int32             `parquet:"config,delta" doc:"position of the configuration (the cell without its replication) in that grid"`
	Seed         int64             `parquet:"seed,delta" doc:"the experiment's seed"`
	Replication  int32             `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Pool         int32             `parquet:"pool,delta" doc:"pool of candidates within the replication, from 1, as in table selections"`
	System       string            `parquet:"system,dict" doc:"name of the system variant"`
	World        string            `parquet:"world,dict" doc:"name of the world variant: who answers"`
	Serving      string            `parquet:"serving,dict" doc:"name of the serving variant: on what"`
	SystemPoint  string            `parquet:"system_point,dict" doc:"system with its swept values"`
	WorldPoint   string            `parquet:"world_point,dict" doc:"world with its swept values"`
	ServingPoint string            `parquet:"serving_point,dict" doc:"serving with its swept values"`
	Factors      map[string]string `parquet:"factors" doc:"every swept value of the experiment file, by factor name"`
}

// Row is a row of table `served`. Columns with the tag better are metrics, which
// aggregate averages over pools and compares.
type Row struct {
	Where
	Assignment string   `parquet:"assignment,dict" doc:"module=candidate, in the order of the graph; a rule stands under its name"`
	Rule       string   `parquet:"rule,dict" doc:"setting of the rule that stands at a module; empty without one"`
	Models     []string `parquet:"models" doc:"models that are served for it"`
	GPUs       int32    `parquet:"gpus_budget,delta" unit:"gpus" doc:"GPUs that there are"`
	Fits       bool     `parquet:"fits" doc:"the budget holds a replica of each of its models; without that nothing is served and latencies are NULL"`
	Split      string   `parquet:"split,dict" doc:"replicas of each model, model=replicas: of those tried the split with the lowest objective; empty where it does not fit"`
	Tried      int32    `parquet:"splits_tried,delta" unit:"splits" doc:"splits that were simulated"`
	AllTried   bool     `parquet:"splits_all" doc:"they are all to which no replica can be added"`

	AccuracyTrain float64  `parquet:"accuracy_train" unit:"share" better:"higher" doc:"mean score on the training questions"`
	AccuracyTest  float64  `parquet:"accuracy_test" unit:"share" better:"higher" doc:"mean score on the test questions"`
	Dollars       *float64 `parquet:"dollars_question" unit:"$" better:"lower" doc:"mean price of a test question's calls; NULL where nothing has a price"`
	Calls         float64  `parquet:"calls_question" unit:"calls" better:"lower" doc:"calls a question that was served"`
	Mean          *float64 `parquet:"latency_mean_us" unit:"us" better:"lower" doc:"mean latency of a question, from its arrival to the end of its last call, over those that arrived after the warm-up"`
	P50           *float64 `parquet:"latency_p50_us" unit:"us" better:"lower" doc:"median of the latencies (type 7)"`
	P95           *float64 `parquet:"latency_p95_us" unit:"us" better:"lower" doc:"95th percentile of the latencies"`
	P99           *float64 `parquet:"latency_p99_us" unit:"us" better:"lower" doc:"99th percentile of the latencies"`
	Within        *float64 `parquet:"slo_share" unit:"share" better:"higher" doc:"share of the questions within slo.latency_ms; those with a call that was not served are outside; 1 without a bound"`
	Meets         *bool    `parquet:"meets_slo" better:"none" doc:"slo_share is at least slo.share; its mean is the share of pools"`
	Used          int32    `parquet:"gpus_used,delta" unit:"gpus" better:"lower" doc:"GPUs of the split"`
	Busy          *float64 `parquet:"gpus_busy" unit:"share" better:"none" doc:"share of the time, until the last call ended, in which those GPUs were in a step"`
	Hits          *float64 `parquet:"hit_rate" unit:"share" better:"higher" doc:"cached prompt tokens over prompt tokens of all calls"`
	Questions     int32    `parquet:"questions,delta" unit:"questions" doc:"questions that were measured"`
	Failed        int32    `parquet:"questions_failed,delta" unit:"questions" better:"lower" doc:"of them, those with a call that was not served"`

	PlannedMean   *float64 `parquet:"planned_mean_us" unit:"us" doc:"mean latency on the training questions, under the same split"`
	PlannedP99    *float64 `parquet:"planned_p99_us" unit:"us" doc:"99th percentile there"`
	PlannedWithin *float64 `parquet:"planned_slo_share" unit:"share" doc:"share within slo.latency_ms there; what is best under the objective is chosen by it"`

	Single       bool     `parquet:"is_single" doc:"one model serves all modules"`
	BestSingle   bool     `parquet:"best_single" doc:"of those the most accurate on the training questions"`
	BestAccuracy bool     `parquet:"best_accuracy" doc:"of all the most accurate on the training questions; of equals the cheapest, then the first"`
	BestSLO      bool     `parquet:"best_slo" doc:"of those that meet the objective on the training questions the most accurate there; of equals the cheapest, then the faster by the objective of splits. Where none does no row has it"`
	Front        bool     `parquet:"front" doc:"no other is as good in accuracy_test, dollars_question and latency_p99_us together, and better in one"`
	Warnings     []string `parquet:"warnings" doc:"doubts about this row"`
}

// SplitRow is a row of table `splits`.
type SplitRow struct {
	Where
	Assignment string   `parquet:"assignment,dict" doc:"as in table served"`
	Split      string   `parquet:"split,dict" doc:"replicas of each model, model=replicas"`
	Replicas   []int32  `parquet:"replicas" doc:"the same as numbers, in the order of the file's models"`
	Used       int32    `parquet:"gpus_used,delta" unit:"gpus" doc:"GPUs of the split"`
	Mean       *float64 `parquet:"latency_mean_us" unit:"us" doc:"mean latency of a training question"`
	P50        *float64 `parquet:"latency_p50_us" unit:"us" doc:"median of the latencies"`
	P99        *float64 `parquet:"latency_p99_us" unit:"us" doc:"99th percentile of the latencies"`
	Within     *float64 `parquet:"slo_share" unit:"share" doc:"share of the questions within slo.latency_ms"`
	Best       bool     `parquet:"best" doc:"the split that the assignment keeps"`
}
