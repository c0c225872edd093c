package generate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"switchyard/sim/workload"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// taskKey is the identity of one replication of a variant in the tables.
func (v *Variant) taskKey(replication int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "switchyard workload\n%d\n%d\n%q\n%s", v.seed, replication, v.Name, v.Key()))
	return hex.EncodeToString(sum[:])
}

// Job returns a task for each variant and replication, in that order, which
// writes its requests and its profile; a fixed variant has one. See
// Variant.Replications.
func Job(variants []*Variant, replications []int) run.Job {
	var of []*Variant // by task
	profiles := Profiles.Placing(func(row *ProfileRow, index int32) { row.label(of[index]) })
	j := run.Job{Name: "generate", Tables: []table.Definition{profiles, Requests}}
	names := []string{Profiles.Name, Requests.Name}
	for _, v := range variants {
		for _, r := range v.Replications(replications) {
			of = append(of, v)
			j.Tasks = append(j.Tasks, run.Task{
				Key: v.taskKey(r), Index: int32(len(j.Tasks)), Tables: names, Weight: float64(v.Requests()),
				Name: fmt.Sprintf("%s (%s) / replication %d", v.Name, v.ID(), r),
				Run: func(_ context.Context, _, _ any, out *run.Sink) error {
					return v.write(r, out)
				},
			})
		}
	}
	return j
}

// write makes a replication and its rows.
func (v *Variant) write(replication int, out *run.Sink) error {
	builder := v.builder()
	made := rows{variant: v, replication: replication, all: make([]Request, 0, v.requests)}
	err := v.Each(replication, func(r *workload.Request) error {
		made.add(r)
		return builder.Add(r)
	})
	if err != nil {
		return err
	}
	w, err := builder.Build()
	if err != nil {
		return err
	}
	out.Write(Profiles.Rows([]ProfileRow{v.profile(replication, w)}))
	out.Write(Requests.Rows(made.all))
	out.Count(int64(w.Len()))
	return nil
}

// label gives a row what depends on the experiment file alone and is no part
// of the task's key.
func (row *ProfileRow) label(v *Variant) {
	row.WorkloadPoint, row.RateRps = v.Point, nil
	if v.rate > 0 {
		row.RateRps = &v.rate
	}
}

// profile measures a workload.
func (v *Variant) profile(replication int, w *workload.Workload) ProfileRow {
	p := w.Profile()
	row := ProfileRow{
		Variant: v.ID(), Workload: v.Name, Replication: int32(replication), Parameters: v.parameters, Requests: int32(p.Requests),
		PromptMean: p.PromptMean, PromptSD: p.PromptSD, OutputMean: p.OutputMean, OutputSD: p.OutputSD,
		RatioMean: p.RatioMean, RatioOfMeans: p.RatioOfMeans, RatioMedian: p.RatioMedian,
		SharedMean: p.SharedMean, SharedSD: p.SharedSD, SharedTokens: p.SharedTokens,
		KeyMean: p.KeyMean, KeySD: p.KeySD, KeyPortions: int32(p.KeyPortions), KeyShared: int32(p.KeyShared),
		SharersMean: known(p.SharersMean), SharersSD: known(p.SharersSD),
		GapMean: known(p.GapMean), GapMedian: known(p.GapMedian), GapCV: known(p.GapCV), GapMin: known(p.GapMin), GapMax: known(p.GapMax),
		PromptTokens: p.PromptTokens, CeilingTokens: p.CeilingTokens, BlockTokens: w.BlockTokens,
		PromptBlocks: p.PromptBlocks, CeilingBlocks: p.CeilingBlocks,
	}
	row.label(v)
	return row
}

// known returns nil for NaN, which is NULL in a table.
func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}
