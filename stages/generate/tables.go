package generate

import (
	"switchyard/sim/workload"
	"switchyard/stages/table"
)

// Request is a row of table `workload`. A Parquet file with these columns is a
// workload as well (format parquet of an item's trace); variant, workload and
// replication are not read then.
type Request struct {
	Variant       string   `parquet:"variant,dict" doc:"identity of the workload's parameters: 12 hex digits of their sha256; with replication the key that profile and cells have as well"`
	Workload      string   `parquet:"workload,dict" doc:"name of the workload variant"`
	Replication   int32    `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Request       int32    `parquet:"request,delta" doc:"index of the request in its workload"`
	ArrivalUs     *int64   `parquet:"arrival_us" unit:"us" doc:"arrival since the first one; NULL where the end of another request decides"`
	After         *int32   `parquet:"after" doc:"request whose end releases this one; NULL where arrival_us decides"`
	ThinkUs       int64    `parquet:"think_us,delta" unit:"us" doc:"from the end of request after to the arrival"`
	Session       *int64   `parquet:"session" doc:"conversation, user or agent; NULL without"`
	Turn          int32    `parquet:"turn,delta" doc:"position in the session, from 0"`
	Tags          []string `parquet:"tags,dict" doc:"names of the mixture's component and the like"`
	PromptTokens  int32    `parquet:"prompt_tokens,delta" unit:"token" doc:"tokens of the prompt, private rest included"`
	OutputTokens  int32    `parquet:"output_tokens,delta" unit:"token" doc:"tokens of the output"`
	SegmentIDs    []int64  `parquet:"segment_ids,dict" doc:"segments that the prompt begins with, root to leaf; an id's identity includes those before it"`
	SegmentTokens []int32  `parquet:"segment_tokens,dict" unit:"token" doc:"tokens of each segment; what they leave of the prompt is private"`
	Replica       *int32   `parquet:"replica" doc:"replica, from 0, that served it when it was recorded; NULL where that is not known"`
	OutputSegment *int64   `parquet:"output_segment" doc:"segment that the output is in a later turn's prompt, behind this prompt's; NULL where none reads it"`
}

// ProfileRow is a row of table `profile`: one workload of one replication in
// the terms of workload.Profile.
type ProfileRow struct {
	Variant       string   `parquet:"variant,dict" doc:"identity of the workload's parameters: 12 hex digits of their sha256; with replication the key that cells has as well"`
	Workload      string   `parquet:"workload,dict" doc:"name of the workload variant"`
	WorkloadPoint string   `parquet:"workload_point,dict" doc:"workload variant with its swept values; where several points come to the same parameters, the first"`
	RateRps       *float64 `parquet:"rate_rps" unit:"1/s" symbol:"λ" doc:"offered mean arrival rate over all replicas; NULL for traces and closed loops"`
	Replication   int32    `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Parameters    []string `parquet:"parameters,dict" doc:"what the workload is made from: name=value, defaults left out"`
	Requests      int32    `parquet:"requests,delta" symbol:"n" doc:"number of requests"`

	PromptMean   float64 `parquet:"prompt_mean_tokens" unit:"token" doc:"mean prompt length"`
	PromptSD     float64 `parquet:"prompt_sd_tokens" unit:"token" doc:"standard deviation of the prompt length over requests"`
	OutputMean   float64 `parquet:"output_mean_tokens" unit:"token" doc:"mean output length"`
	OutputSD     float64 `parquet:"output_sd_tokens" unit:"token" doc:"standard deviation of the output length over requests"`
	RatioMean    float64 `parquet:"prompt_output_ratio_mean" unit:"ratio" doc:"mean over requests of prompt / output"`
	RatioOfMeans float64 `parquet:"prompt_output_ratio_of_means" unit:"ratio" doc:"prompt_mean_tokens / output_mean_tokens"`
	RatioMedian  float64 `parquet:"prompt_output_ratio_median" unit:"ratio" doc:"median over requests of prompt / output"`

	SharedMean   float64  `parquet:"shared_share_mean" unit:"share" doc:"mean over requests of the share of the prompt that another request's prompt begins with too"`
	SharedSD     float64  `parquet:"shared_share_sd" unit:"share" doc:"its standard deviation over requests"`
	SharedTokens float64  `parquet:"shared_token_share" unit:"share" doc:"the same over all prompt tokens together"`
	KeyMean      float64  `parquet:"key_share_mean" unit:"share" doc:"mean over requests of the share of the prompt up to the end of its key portion, the deepest segment longer than all before it"`
	KeySD        float64  `parquet:"key_share_sd" unit:"share" doc:"its standard deviation over requests"`
	KeyPortions  int32    `parquet:"key_portions,delta" doc:"distinct key portions"`
	KeyShared    int32    `parquet:"key_portions_shared,delta" doc:"key portions of at least two requests"`
	SharersMean  *float64 `parquet:"key_sharers_mean" unit:"request" doc:"mean over shared key portions of the requests that have it; NULL where none is shared"`
	SharersSD    *float64 `parquet:"key_sharers_sd" unit:"request" doc:"its standard deviation over shared key portions"`

	GapMean   *float64 `parquet:"gap_mean_us" unit:"us" doc:"mean gap between consecutive arrivals that have times; NULL with fewer than two"`
	GapMedian *float64 `parquet:"gap_median_us" unit:"us" doc:"median gap"`
	GapCV     *float64 `parquet:"gap_cv" unit:"ratio" doc:"standard deviation of the gaps over their mean; 1 for Poisson arrivals"`
	GapMin    *float64 `parquet:"gap_min_us" unit:"us" doc:"least gap"`
	GapMax    *float64 `parquet:"gap_max_us" unit:"us" doc:"largest gap"`

	PromptTokens  int64 `parquet:"prompt_tokens,delta" unit:"token" doc:"prompt tokens of all requests"`
	CeilingTokens int64 `parquet:"ceiling_tokens,delta" unit:"token" doc:"of these, what an earlier request begins with too: the most that one unlimited cache can hit"`
	BlockTokens   int32 `parquet:"block_tokens,delta" unit:"token" symbol:"B" doc:"tokens of a block: what the trace says, else 16"`
	PromptBlocks  int64 `parquet:"prompt_blocks,delta" unit:"block" doc:"blocks of all prompts, each ceil(prompt / B)"`
	CeilingBlocks int64 `parquet:"ceiling_blocks,delta" unit:"block" doc:"blocks within the ceiling, each floor(ceiling / B), and the last partial one of a prompt wholly within it"`
}

// The stage's tables.
var (
	Requests = table.New[Request]("workload", "Requests of each workload and replication, over a prefix forest.")
	Profiles = table.New[ProfileRow]("profile", "Each workload and replication in figures: lengths, sharing, key portions, arrivals, hit ceiling.")
)

// Tables lists the stage's tables.
func Tables() []table.Definition { return []table.Definition{Profiles, Requests} }

// rows turns requests into rows of table `workload`. Optional values and lists
// live in chunks, so that a row costs no allocation of its own.
type rows struct {
	variant     *Variant
	replication int
	all         []Request
	longs       arena[int64]
	ints        arena[int32]
}

func (b *rows) add(r *workload.Request) {
	row := Request{
		Variant: b.variant.ID(), Workload: b.variant.Name, Replication: int32(b.replication), Request: int32(len(b.all)),
		ThinkUs: r.ThinkUs, Turn: r.Turn, Tags: r.Tags, PromptTokens: r.Prompt, OutputTokens: r.Output,
	}
	if r.After != workload.None {
		row.After = &b.ints.take(1)[0]
		*row.After = r.After
	} else {
		row.ArrivalUs = b.long(r.ArrivalUs)
	}
	if r.Session != workload.None {
		row.Session = b.long(r.Session)
	}
	if r.OutputID != workload.None {
		row.OutputSegment = b.long(r.OutputID)
	}
	if r.Served > 0 {
		row.Replica = &b.ints.take(1)[0]
		*row.Replica = r.Served - 1
	}
	row.SegmentIDs, row.SegmentTokens = b.longs.take(len(r.Segments)), b.ints.take(len(r.Segments))
	for i, s := range r.Segments {
		row.SegmentIDs[i], row.SegmentTokens[i] = s.ID, s.Tokens
	}
	b.all = append(b.all, row)
}

func (b *rows) long(v int64) *int64 {
	p := &b.longs.take(1)[0]
	*p = v
	return p
}

// request turns a row back into a request, reusing r's segments.
func (row *Request) request(r *workload.Request) {
	*r = workload.Request{
		ArrivalUs: workload.None, After: workload.None, Session: workload.None, OutputID: workload.None,
		ThinkUs: row.ThinkUs, Turn: row.Turn, Prompt: row.PromptTokens, Output: row.OutputTokens,
		Segments: r.Segments[:0],
	}
	if len(row.Tags) > 0 {
		r.Tags = row.Tags
	}
	if row.ArrivalUs != nil {
		r.ArrivalUs = *row.ArrivalUs
	}
	if row.After != nil {
		r.After = *row.After
	}
	if row.Session != nil {
		r.Session = *row.Session
	}
	if row.Replica != nil {
		r.Served = *row.Replica + 1
	}
	if row.OutputSegment != nil {
		r.OutputID = *row.OutputSegment
	}
	for i, id := range row.SegmentIDs {
		r.Segments = append(r.Segments, workload.Segment{ID: id, Tokens: row.SegmentTokens[i]})
	}
}

// arena hands out slices of one large one.
type arena[T any] struct{ free []T }

func (a *arena[T]) take(n int) []T {
	if n > len(a.free) {
		a.free = make([]T, max(n, 4096))
	}
	taken := a.free[:n:n]
	a.free = a.free[n:]
	return taken
}
