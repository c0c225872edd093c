package simulate

// Request is a row of table `requests`: what happened to one request of one
// cell.
type Request struct {
	Cell             int32  `parquet:"cell,dict" doc:"cell that the request belongs to"`
	Request          int32  `parquet:"request,delta" doc:"index of the request in its workload"`
	Replica          int32  `parquet:"replica,dict" doc:"replica that it was routed to, the last one where it was routed again; -1 where none took requests"`
	Status           string `parquet:"status,dict" doc:"finished, rejected (it could never fit into the KV cache, the queue was full, or no replica took requests), timed-out (it left the queue unserved), or failed (it was lost with its replica)"`
	ArrivalUs        int64  `parquet:"arrival_us,delta" unit:"us" doc:"arrival at the router; observed in closed loops"`
	StartedUs        *int64 `parquet:"started_us" unit:"us" doc:"first admission to a batch"`
	FirstTokenUs     *int64 `parquet:"first_token_us" unit:"us" doc:"end of the step that emitted its first token"`
	FinishedUs       *int64 `parquet:"finished_us" unit:"us" doc:"end of the step that emitted its last token, or in which it timed out; when it was lost"`
	TTFTUs           *int64 `parquet:"ttft_us" unit:"us" symbol:"TTFT" doc:"first_token_us - arrival_us"`
	E2EUs            *int64 `parquet:"e2e_us" unit:"us" symbol:"E2E" doc:"finished_us - arrival_us of a finished request"`
	PromptTokens     int32  `parquet:"prompt_tokens,delta" unit:"token" doc:"tokens of the prompt"`
	OutputTokens     int32  `parquet:"output_tokens,delta" unit:"token" doc:"tokens of the output"`
	CachedTokens     int32  `parquet:"cached_tokens,delta" unit:"token" doc:"prompt tokens cached at the first admission; 0 where it never started"`
	HostTokens       int32  `parquet:"host_tokens,delta" unit:"token" doc:"prompt tokens copied from host memory at the first admission, behind the cached ones"`
	BestCachedTokens int32  `parquet:"best_cached_tokens,delta" unit:"token" doc:"prompt tokens cached at the decision on the replica that had most"`
	CeilingTokens    int32  `parquet:"ceiling_tokens,delta" unit:"token" doc:"longest prefix that an earlier arrival has too, in tokens whatever the blocks; one that is overtaken in the queue by a later arrival with its prefix can have more cached_tokens"`
	UnlimitedTokens  int32  `parquet:"unlimited_tokens,delta" unit:"token" doc:"prompt tokens it would have hit had its replica never evicted"`
	DispatchedTokens int32  `parquet:"dispatched_tokens,delta" unit:"token" doc:"prompt tokens it would have hit had its replica never evicted and had every prefix counted from its dispatch on; at least unlimited_tokens"`
	BelievedTokens   *int32 `parquet:"believed_tokens" unit:"token" doc:"prompt tokens that the router believed to be cached on the replica that it chose; NULL where it believed nothing of caches"`
	Preemptions      int32  `parquet:"preemptions,delta" doc:"times that it was preempted"`
	InWindow         bool   `parquet:"in_window" doc:"whether it arrived in the window; the cut is by order of arrival, not of index"`
}

// Place moves the row to the cell at that position of the grid.
func (r *Request) Place(index int32) { r.Cell = index }
