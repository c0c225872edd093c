package simulate

// Replica is a row of table `replicas`: one replica over one cell. Counts are
// over the whole run, drained to the end; averages over the window.
type Replica struct {
	Cell           int32    `parquet:"cell,dict" doc:"cell that the replica belongs to"`
	Replica        int32    `parquet:"replica,delta" doc:"index of the replica"`
	Requests       int64    `parquet:"requests,delta" doc:"requests that entered its queue; those that it turned away did not"`
	PromptTokens   int64    `parquet:"prompt_tokens,delta" unit:"token" doc:"prompt tokens of the requests that started on it"`
	CachedTokens   int64    `parquet:"cached_tokens,delta" unit:"token" doc:"of those, cached at the first admission"`
	HostTokens     int64    `parquet:"host_tokens,delta" unit:"token" doc:"of prompt_tokens, copied from host memory at the first admission"`
	OutputTokens   int64    `parquet:"output_tokens,delta" unit:"token" doc:"output tokens that it emitted"`
	ComputedTokens int64    `parquet:"computed_tokens,delta" unit:"token" doc:"prompt_tokens - cached_tokens - host_tokens + output_tokens"`
	Steps          int64    `parquet:"steps,delta" doc:"engine steps"`
	BusyUs         int64    `parquet:"busy_us,delta" unit:"us" doc:"time inside steps"`
	KVPeakTokens   int64    `parquet:"kv_peak_tokens,delta" unit:"token" doc:"most KV cache ever used"`
	EvictedTokens  int64    `parquet:"evicted_tokens,delta" unit:"token" doc:"cached tokens evicted"`
	HitRate        *float64 `parquet:"prefix_hit_rate" unit:"share" doc:"cached_tokens / prompt_tokens"`
	Utilisation    *float64 `parquet:"utilisation" unit:"share" doc:"share of the window inside steps, whatever is in them: near 1 long before the replica is at its limit"`
	KVMeanTokens   *float64 `parquet:"kv_mean_tokens" unit:"token" doc:"used KV cache, cached prefixes included (under vllm-v1 without those that no running request holds), time average over the window"`
	QueueMean      *float64 `parquet:"queue_mean_requests" unit:"request" doc:"requests that wait on it, time average over the window"`
	SystemMean     *float64 `parquet:"system_mean_requests" unit:"request" doc:"requests on it, waiting or running, time average over the window"`
}

// Place moves the row to the cell at that position of the grid.
func (r *Replica) Place(index int32) { r.Cell = index }
