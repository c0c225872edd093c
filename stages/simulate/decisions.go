package simulate

import (
	"math"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
)

// Decision is a row of table `decisions`: one replica at one decision of a
// router, as the router saw it and as it was.
type Decision struct {
	Cell    int32 `parquet:"cell,dict" doc:"cell that the decision belongs to"`
	Request int32 `parquet:"request,delta" doc:"request that was routed"`
	Replica int32 `parquet:"replica,dict" doc:"replica that this row is about"`
	TimeUs  int64 `parquet:"time_us,delta" unit:"us" doc:"when the router decided, since the first arrival"`
	Router  int32 `parquet:"instance,dict" doc:"which of several routers decided"`

	Rule      string    `parquet:"rule,dict" doc:"rule of the policy that decided: affinity, miss, imbalance ..."`
	Up        bool      `parquet:"up" doc:"whether the replica took requests"`
	Chosen    bool      `parquet:"chosen" doc:"whether it was chosen"`
	Score     *float64  `parquet:"score" doc:"the policy's score of the replica, in the policy's own unit and direction; NULL where it was no candidate; 0 for the candidates of a policy that compares none"`
	Terms     []float64 `parquet:"terms" doc:"what the score is made of, in the order of term_names; empty without"`
	TermNames []string  `parquet:"term_names,dict" doc:"names of terms"`
	Believed  *int32    `parquet:"believed_tokens" unit:"token" doc:"prompt tokens that the router believed to be cached there; NULL without a belief"`

	Cached    int32    `parquet:"cached_tokens,delta" unit:"token" doc:"prompt tokens that were cached there"`
	Waiting   int32    `parquet:"waiting_requests,delta" unit:"request" doc:"requests that waited there, as of its last finished step"`
	Running   int32    `parquet:"running_requests,delta" unit:"request" doc:"requests that ran there"`
	Prefill   int64    `parquet:"prefill_tokens,delta" unit:"token" doc:"prompt tokens, beyond cached ones, of its requests without a first token"`
	KVTokens  int64    `parquet:"kv_tokens,delta" unit:"token" doc:"tokens of KV cache that its running requests held"`
	Estimate  *float64 `parquet:"estimate_us" unit:"us" doc:"time to first token there by what was so in truth: the time to compute prefill_tokens and what is not cached of the prompt, each alone at the replica's speed; decodes are left out. NULL where the replica was down"`
	Hindsight bool     `parquet:"hindsight_best" doc:"whether the estimate is the least of all replicas"`
	RegretUs  *float64 `parquet:"regret_us" unit:"us" doc:"of the chosen replica: its estimate less the least one; NULL for the others"`
}

// Place moves the row to the cell at that position of the grid.
func (d *Decision) Place(index int32) { d.Cell = index }

// decider turns decisions into rows. It implements cluster.Decider.
type decider struct {
	cell  int32
	share float64
	step  engine.StepModel
	slow  []float64 // by replica: how many times as long its steps take
	names []string
	rows  []Decision
}

func (d *decider) reset(cell int32, c *Config, share float64) {
	d.cell, d.share, d.step, d.names = cell, share, c.Cluster.Config.Step, c.Router.Policy.Terms
	d.rows = d.rows[:0]
	d.slow = grow(d.slow, c.Cluster.Params.Replicas)
	for i := range d.slow {
		d.slow[i] = 1
	}
	for _, e := range c.Cluster.Config.Events {
		if e.Kind == cluster.Slow {
			d.slow[e.Replica] *= e.Factor
		}
	}
}

// Wants implements cluster.Decider: the same requests in every cell.
func (d *decider) Wants(id int32) bool { return d.share >= 1 || uniform(uint64(id)) < d.share }

// Decided implements cluster.Decider.
func (d *decider) Decided(at *cluster.Decided) {
	first, least := len(d.rows), math.Inf(1)
	for i := range at.Gauges {
		g := &at.Gauges[i]
		row := Decision{
			Cell: d.cell, Request: at.ID, Replica: int32(i), TimeUs: at.NowNs / 1000, Router: int32(at.Router),
			Rule: at.Decision.Rule, Chosen: i == at.Chosen,
			Cached: at.Cached[i], Waiting: g.Waiting, Running: g.Running, Prefill: g.Prefill, KVTokens: g.KVTokens,
		}
		if s := at.Decision.Score[i]; !math.IsNaN(s) {
			row.Score = &s
		}
		for k, name := range d.names {
			if v := at.Decision.Terms[k][i]; !math.IsNaN(v) {
				row.Terms, row.TermNames = append(row.Terms, v), append(row.TermNames, name)
			}
		}
		if b := at.Decision.Cached[i]; b >= 0 {
			row.Believed = &b
		}
		d.rows = append(d.rows, row)
	}
	for _, i := range at.Up {
		row := &d.rows[first+int(i)]
		row.Up = true
		e := float64(engine.Prefill(d.step, row.Prefill, 0)+engine.Prefill(d.step, int64(at.Prompt-row.Cached), int64(row.Cached))) / 1000 * d.slow[i]
		row.Estimate = &e
		least = min(least, e)
	}
	for i := range d.rows[first:] {
		row := &d.rows[first+i]
		if row.Estimate == nil {
			continue
		}
		row.Hindsight = *row.Estimate == least
		if row.Chosen {
			regret := *row.Estimate - least
			row.RegretUs = &regret
		}
	}
}
