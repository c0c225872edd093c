package cluster

import (
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// beliefs counts what a policy believes of every replica against the truth, in
// whole blocks of 16 tokens.
type beliefs struct{ same, more, less int }

func (b *beliefs) Wants(int32) bool { return true }

func (b *beliefs) Decided(d *Decided) {
	for _, i := range d.Up {
		switch believed, cached := d.Decision.Cached[i], d.Cached[i]/16*16; {
		case believed > cached:
			b.more++
		case believed < cached:
			b.less++
		default:
			b.same++
		}
	}
}

// Cache events without delay or loss tell the truth, of conversations whose
// turns end in the middle of blocks, under a cache that evicts.
func TestEventsTellTheTruth(t *testing.T) {
	chat := new(workload.Chat)
	param.Defaults(chat)
	spec := workload.Spec{Seed: 1, Replication: 1, Requests: 1500, Generator: chat, Arrivals: &workload.Poisson{Rate: workload.Rate{RPS: 20}}}
	w, err := spec.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dynamo-kv", "dynamo-kv-0.1", "lmetric", "dualmap", "dynamo-two-tier"} {
		p := new(engine.VLLM)
		param.Defaults(p)
		p.Blocks = 2000
		c := Config{Replicas: 4, Step: linear{}, KVTokens: p.KVTokens(0), Engine: p, Cut: 300}
		b := new(beliefs)
		c.Decisions = b
		r, err := new(Sim).Run(c, w, name, policy(t, name), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		var evicted int64
		for _, s := range r.Replicas {
			evicted += s.Evicted
		}
		if b.more > 0 || b.less > 0 || b.same < 4*w.Len() || evicted == 0 {
			t.Errorf("%s: of %d beliefs %d are too high and %d too low, with %d tokens evicted", name, b.same, b.more, b.less, evicted)
		}
	}
}

// A queue in the router under load: with wspt who has little to compute goes
// first, and the mean wait is shortest; the latest first makes the longest wait.
func TestDynamoKeepsRequestsBack(t *testing.T) {
	groups := new(workload.PrefixGroups)
	param.Defaults(groups)
	groups.Groups, groups.Prefix, groups.Own, groups.OwnSD, groups.Output, groups.OutputSD = 50, 200, 400, 300, 4, 1
	spec := workload.Spec{Seed: 2, Replication: 1, Requests: 1200, Generator: groups, Arrivals: &workload.Poisson{Rate: workload.Rate{RPS: 450}}}
	w, err := spec.Build()
	if err != nil {
		t.Fatal(err)
	}
	mean, longest := map[string]float64{}, map[string]int64{}
	for _, order := range []string{"", "fcfs", "wspt", "lcfs"} {
		c := config(2, 1e6, nil)
		p := policy(t, "dynamo-kv").(*router.DynamoKV)
		p.QueueThreshold, p.BatchTokens, p.QueueOrder = 1, 1000, order
		if order == "" {
			p.QueueThreshold = 0
		}
		r, err := new(Sim).Run(c, w, "dynamo-kv", p, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, status := range r.Status {
			if status != Finished {
				t.Fatalf("%s: request %d ends as %v", order, i, status)
			}
			wait := r.FirstNs[i] - r.ArrivalNs[i]
			mean[order] += float64(wait) / 1e6 / float64(w.Len())
			longest[order] = max(longest[order], wait/1e6)
		}
	}
	if mean["wspt"] > .9*mean["fcfs"] || longest["lcfs"] < longest["fcfs"] {
		t.Errorf("mean waits %v ms, longest %v ms", mean, longest)
	}
}
