package simulate

// Cell is a row of table `cells`: one run, that is one workload, cluster,
// router and replication. Latencies are over the requests that arrived in the
// window and finished, drained to the end; rates and state are over the
// window. Quantiles are of type 7, as DuckDB's quantile_cont. NULL means that
// there was nothing to measure. The tag better says of a metric which
// direction is good: lower, higher, or none; columns without it are no metrics.
type Cell struct {
	Cell          int32  `parquet:"cell,delta" doc:"position of the cell in the grid, replication fastest; sort order"`
	CellKey       string `parquet:"cell_key" doc:"sha256 over seed, replication, workload, cluster, router and stage versions, without names and defaults"`
	Config        int32  `parquet:"config,delta" doc:"position of the configuration (the cell without its replication) in the grid"`
	Seed          int64  `parquet:"seed,delta" doc:"the experiment's seed"`
	Replication   int32  `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Workload      string `parquet:"workload,dict" doc:"name of the workload variant"`
	Cluster       string `parquet:"cluster,dict" doc:"name of the cluster variant"`
	Router        string `parquet:"router,dict" doc:"name of the router variant"`
	WorkloadPoint string `parquet:"workload_point,dict" doc:"workload variant with its swept values"`
	ClusterPoint  string `parquet:"cluster_point,dict" doc:"cluster variant with its swept values"`
	RouterPoint   string `parquet:"router_point,dict" doc:"router variant with its swept values"`
	Variant       string `parquet:"variant,dict" doc:"identity of the workload's parameters: 12 hex digits of their sha256; with replication the key of profile and of the requests in workload"`
	Source        string `parquet:"source,dict" doc:"where the requests come from: generated; recorded, a trace as it was recorded, in one replication; or, of a trace's bootstrap resamples, what they are drawn from: resampled sessions, resampled 4 windows of 900 s"`

	Policy         string            `parquet:"policy,dict" doc:"routing policy of the router variant"`
	Model          string            `parquet:"model,dict" doc:"model that every replica serves"`
	GPU            string            `parquet:"gpu,dict" doc:"GPU of every replica"`
	TensorParallel int32             `parquet:"tensor_parallel,delta" doc:"GPUs a replica"`
	Replicas       int32             `parquet:"replicas,delta" symbol:"N" doc:"replicas in the cluster"`
	RateRps        *float64          `parquet:"rate_rps" unit:"1/s" symbol:"λ" doc:"offered mean arrival rate over all replicas; NULL for traces and closed loops"`
	Factors        map[string]string `parquet:"factors" doc:"every swept value of the experiment file, by factor name"`

	WarmUp        float64 `parquet:"warm_up" unit:"share" doc:"share of the arrivals before the window: those that arrive first, which in closed loops are not those of the lowest request index"`
	SLOTTFTMs     float64 `parquet:"slo_ttft_ms" unit:"ms" doc:"bound on TTFT of the service level objective; 0 = none"`
	SLOTPOTMs     float64 `parquet:"slo_tpot_ms" unit:"ms" doc:"bound on TPOT of the service level objective; 0 = none"`
	SLOE2EMs      float64 `parquet:"slo_e2e_ms" unit:"ms" doc:"bound on E2E latency of the service level objective; 0 = none"`
	RequestsShare float64 `parquet:"requests_share" unit:"share" doc:"share of the cell's requests kept in table requests: 1 = all, 0 = none, else a sample by hash of the request index"`
	KVCapacity    int64   `parquet:"kv_capacity_tokens,delta" unit:"token" symbol:"C" doc:"KV cache of one replica"`

	Status   string   `parquet:"status,dict" doc:"ok; rejected, timed-out or failed where some request of the cell was; nothing-served where no request finished"`
	Warnings []string `parquet:"warnings" doc:"statistical doubts about this row"`

	Requests      int64  `parquet:"requests,delta" symbol:"n" doc:"requests that arrived over the whole run"`
	Finished      int64  `parquet:"finished,delta" doc:"requests that finished, over the whole run"`
	Rejected      int64  `parquet:"rejected,delta" doc:"requests that were turned away at their arrival, over the whole run: they could never fit into the KV cache, the queue was full, or no replica took requests"`
	Failed        int64  `parquet:"failed,delta" doc:"requests that were lost with their replica, over the whole run"`
	TimedOut      int64  `parquet:"timed_out,delta" doc:"requests that waited too long and left unserved, over the whole run"`
	WindowStartUs *int64 `parquet:"window_start_us" unit:"us" symbol:"t0" doc:"arrival of the first request after the warm-up cut"`
	WindowEndUs   *int64 `parquet:"window_end_us" unit:"us" symbol:"t1" doc:"last arrival; the window's length is T = t1 - t0"`
	InWindow      int64  `parquet:"requests_in_window,delta" doc:"requests that arrived in the window, its opening one included"`
	Measured      int64  `parquet:"requests_measured,delta" symbol:"m" doc:"requests that arrived in the window and finished: those behind the latencies"`

	Arrived         int64    `parquet:"arrived,delta" symbol:"A" doc:"arrivals in (t0, t1], rejected ones included"`
	Turned          int64    `parquet:"rejected_in_window,delta" symbol:"R" doc:"of A, those that were rejected"`
	Completed       int64    `parquet:"completed,delta" symbol:"D" doc:"requests that finished in (t0, t1], whenever they arrived"`
	ArrivalRps      *float64 `parquet:"arrival_rps" unit:"1/s" better:"none" doc:"realised arrival rate, A / T; below rate_rps where a run is not much longer than its sessions"`
	ThroughputRps   *float64 `parquet:"throughput_rps" unit:"1/s" better:"higher" symbol:"X" doc:"D / T"`
	CompletionRatio *float64 `parquet:"completion_ratio" unit:"ratio" better:"higher" doc:"D / (A - R): completions over the arrivals that were not turned away; a configuration below 0.98 over its replications is saturated"`
	BacklogSlope    *float64 `parquet:"backlog_slope_rps" unit:"1/s" better:"lower" doc:"least-squares slope of the requests in the system, in which rejected ones never are, over the second half of the window, from 64 instants"`
	BacklogSlopeSE  *float64 `parquet:"backlog_slope_se_rps" unit:"1/s" better:"none" doc:"its standard error within the run from the residuals, blind to their correlation: too small near saturation"`
	Saturated       bool     `parquet:"saturated" doc:"indicator of this cell alone: completion ratio below 0.98, or backlog slope less 1.96 standard errors above 1 % of (A - R) / T; aggregate judges the configuration"`
	SystemMean      *float64 `parquet:"system_mean_requests" unit:"request" better:"lower" symbol:"L" doc:"time average over the window of the requests in the system, arrival to finish"`
	QueueMean       *float64 `parquet:"queue_mean_requests" unit:"request" better:"lower" symbol:"Lq" doc:"time average over the window of the requests that arrived and have not started"`
	OutputTokensPS  *float64 `parquet:"output_tokens_per_s" unit:"token/s" better:"higher" doc:"output tokens of the requests that finished in (t0, t1] / T"`
	PromptTokensPS  *float64 `parquet:"prompt_tokens_per_s" unit:"token/s" better:"higher" doc:"prompt tokens of the requests that finished in (t0, t1] / T, cached ones included"`
	SLOAttainment   *float64 `parquet:"slo_attainment" unit:"share" better:"higher" doc:"share of the requests that arrived in the window which finished within every bound of the objective; a bound on TPOT holds trivially at one output token"`
	GoodputRps      *float64 `parquet:"goodput_rps" unit:"1/s" better:"higher" symbol:"G" doc:"requests within the objective a second: slo_attainment × arrival_rps"`

	TTFTMeanUs *float64 `parquet:"ttft_mean_us" unit:"us" better:"lower" symbol:"TTFT" doc:"mean time to first token: first_token_us - arrival_us"`
	TTFTP50Us  *float64 `parquet:"ttft_p50_us" unit:"us" better:"lower" doc:"median time to first token"`
	TTFTP90Us  *float64 `parquet:"ttft_p90_us" unit:"us" better:"lower" doc:"0.90 quantile of the time to first token"`
	TTFTP95Us  *float64 `parquet:"ttft_p95_us" unit:"us" better:"lower" doc:"0.95 quantile of the time to first token"`
	TTFTP99Us  *float64 `parquet:"ttft_p99_us" unit:"us" better:"lower" doc:"0.99 quantile of the time to first token"`

	TPOTMeanUs *float64 `parquet:"tpot_mean_us" unit:"us" better:"lower" symbol:"TPOT" doc:"mean time per output token, (E2E - TTFT) / (output - 1), over requests of more than one output token"`
	TPOTP50Us  *float64 `parquet:"tpot_p50_us" unit:"us" better:"lower" doc:"median time per output token"`
	TPOTP90Us  *float64 `parquet:"tpot_p90_us" unit:"us" better:"lower" doc:"0.90 quantile of the time per output token"`
	TPOTP95Us  *float64 `parquet:"tpot_p95_us" unit:"us" better:"lower" doc:"0.95 quantile of the time per output token"`
	TPOTP99Us  *float64 `parquet:"tpot_p99_us" unit:"us" better:"lower" doc:"0.99 quantile of the time per output token"`
	TPOTPreble *float64 `parquet:"tpot_preble_mean_us" unit:"us" better:"lower" doc:"mean of (E2E - TTFT) / output over all measured requests: the TPOT of Preble's scripts"`

	E2EMeanUs *float64 `parquet:"e2e_mean_us" unit:"us" better:"lower" symbol:"E2E" doc:"mean end-to-end latency: finished_us - arrival_us"`
	E2EP50Us  *float64 `parquet:"e2e_p50_us" unit:"us" better:"lower" doc:"median end-to-end latency"`
	E2EP90Us  *float64 `parquet:"e2e_p90_us" unit:"us" better:"lower" doc:"0.90 quantile of the end-to-end latency"`
	E2EP95Us  *float64 `parquet:"e2e_p95_us" unit:"us" better:"lower" doc:"0.95 quantile of the end-to-end latency"`
	E2EP99Us  *float64 `parquet:"e2e_p99_us" unit:"us" better:"lower" doc:"0.99 quantile of the end-to-end latency"`

	E2EBoundUs *float64 `parquet:"e2e_bound_us" unit:"us" better:"none" doc:"lower bound on the mean E2E latency over the requests from the first of the window on, whatever the router: the greater of lone prefill beyond the hit ceiling with lone decodes, and pooled computation under shortest remaining processing time (package sim/bounds); NULL where the warm-up was cut anew, in closed loops with one, and where a request of the window did not finish"`
	E2EDrift   *float64 `parquet:"e2e_drift" unit:"ratio" better:"none" doc:"mean E2E latency of the requests that arrived in the second half of the window / in the first half, less 1: far from 0 in many replications, the run is too short or saturated"`

	QueueMeanUs *float64 `parquet:"queue_mean_us" unit:"us" better:"lower" symbol:"Wq" doc:"mean queueing time: started_us - arrival_us, up to the first admission"`
	QueueP50Us  *float64 `parquet:"queue_p50_us" unit:"us" better:"lower" doc:"median queueing time"`
	QueueP90Us  *float64 `parquet:"queue_p90_us" unit:"us" better:"lower" doc:"0.90 quantile of the queueing time"`
	QueueP95Us  *float64 `parquet:"queue_p95_us" unit:"us" better:"lower" doc:"0.95 quantile of the queueing time"`
	QueueP99Us  *float64 `parquet:"queue_p99_us" unit:"us" better:"lower" doc:"0.99 quantile of the queueing time"`

	PromptTokens     int64    `parquet:"prompt_tokens,delta" unit:"token" symbol:"P" doc:"prompt tokens of the requests that arrived in the window and started"`
	CachedTokens     int64    `parquet:"cached_tokens,delta" unit:"token" symbol:"H" doc:"of P, those cached at the first admission"`
	HostTokens       int64    `parquet:"host_tokens,delta" unit:"token" doc:"of P, those copied from host memory at the first admission, behind the cached ones"`
	CeilingTokens    int64    `parquet:"ceiling_tokens,delta" unit:"token" symbol:"H*" doc:"of P, those of the longest prefix that an earlier arrival has too"`
	UnlimitedTokens  int64    `parquet:"unlimited_tokens,delta" unit:"token" symbol:"Hu" doc:"of P, those that the same decisions would have hit had no replica ever evicted"`
	DispatchedTokens int64    `parquet:"dispatched_tokens,delta" unit:"token" symbol:"Hd" doc:"of P, those that the same decisions would have hit had no replica ever evicted and had every prefix counted from its dispatch on; at least Hu"`
	BestTokens       int64    `parquet:"best_cached_tokens,delta" unit:"token" symbol:"Hb" doc:"of P, those cached at the decision on the replica that had most of the prompt"`
	HitRate          *float64 `parquet:"prefix_hit_rate" unit:"share" better:"higher" doc:"H / P"`
	HitCeiling       *float64 `parquet:"hit_ceiling" unit:"share" better:"none" doc:"H* / P: one unlimited cache without delay, for requests served in order of arrival"`
	BestHitRate      *float64 `parquet:"best_hit_rate" unit:"share" better:"none" doc:"Hb / P: what always taking the replica with most of the prompt cached would have hit at these decisions"`
	LostToRouting    *float64 `parquet:"lost_to_routing" unit:"share" better:"lower" doc:"(H* - Hu) / P: hits that these decisions miss with unlimited caches; under vllm-v1 with what is lost to whole blocks, since Hu counts full blocks and H* tokens; may be negative by the overtaken, see requests.ceiling_tokens"`
	LostInFlight     *float64 `parquet:"lost_in_flight" unit:"share" better:"lower" doc:"(Hd - Hu) / P, a part of lost_to_routing: the prefix was on its way to that replica and not computed yet"`
	LostToEviction   *float64 `parquet:"lost_to_eviction" unit:"share" better:"lower" doc:"(Hu - H) / P: hits that unlimited caches would have had under the same decisions"`
	FalseTokens      int64    `parquet:"false_hit_tokens,delta" unit:"token" symbol:"Hf" doc:"of P, those that the router believed to be cached on the replica that it chose and that were not there at the first admission"`
	MissedTokens     int64    `parquet:"missed_hit_tokens,delta" unit:"token" symbol:"Hm" doc:"of P, those that were cached there at the first admission and that the router did not know of, for decisions with a belief"`
	FalseHits        *float64 `parquet:"false_hits" unit:"share" better:"lower" doc:"Hf / P; NULL for routers that believe nothing of caches"`
	MissedHits       *float64 `parquet:"missed_hits" unit:"share" better:"none" doc:"Hm / P; NULL for routers that believe nothing of caches"`
	Duplication      *float64 `parquet:"duplication" unit:"ratio" better:"lower" doc:"cached tokens summed over replicas / distinct cached tokens, mean over samples every 16 arrivals after the first quarter of the run"`
	LoadImbalance    *float64 `parquet:"load_imbalance" unit:"ratio" better:"lower" doc:"tokens computed (prompt - cached - copied from host memory + output) by the busiest replica / the mean over replicas, for requests that arrived in the window and started"`
	MaxRequestShare  *float64 `parquet:"max_request_share" unit:"share" better:"none" doc:"largest share of the requests that arrived in the window on one replica"`

	Utilisation   *float64 `parquet:"utilisation" unit:"share" better:"none" doc:"share of the window in which a replica runs a step, whatever is in it, mean over replicas: no measure of load, since a replica steps whenever it has one request, so that this nears 1 at a small part of what it can carry; see offered_load"`
	Load          *float64 `parquet:"offered_load" unit:"ratio" better:"none" symbol:"ρ" doc:"(A - R) / T over the requests a second that the replicas would complete if every step were as full as budget, running requests and KV cache allow, with the hits that they had: about 1 where a cluster that shares evenly saturates, half at half the rate; NULL under schedulers whose steps have no one budget"`
	KVMean        *float64 `parquet:"kv_mean" unit:"share" better:"none" doc:"used KV cache / C, cached prefixes included (under vllm-v1 without those that no running request holds), time average over the window and mean over replicas"`
	KVPeak        *float64 `parquet:"kv_peak" unit:"share" better:"none" doc:"most KV cache ever used by a replica / C, over the whole run"`
	EvictedTokens int64    `parquet:"evicted_tokens,delta" unit:"token" better:"none" doc:"cached tokens evicted over the whole run, all replicas"`
	Preemptions   int64    `parquet:"preemptions,delta" better:"lower" doc:"times that a request which arrived in the window was preempted"`
	Steps         int64    `parquet:"steps,delta" better:"none" doc:"engine steps over the whole run, all replicas"`
}

// Place makes the row the cell at that position of the grid.
func (c *Cell) Place(index int32) { c.Cell = index }
