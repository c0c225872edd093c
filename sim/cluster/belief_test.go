package cluster

import (
	"testing"

	"switchyard/sim/param"
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
		c := vllmConfig(t, 4, 2000)
		c.Cut = 300
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
