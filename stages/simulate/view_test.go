package simulate

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

const sticky = "{name: sticky, policy: prefix-threshold, threshold: {sweep: [0.25, 0.5]}}"

// A section view reaches the cluster and the key; events do too.
func TestViewAndEvents(t *testing.T) {
	base := mustPlan(t)
	viewed := mustPlan(t, sticky, "{name: sticky, policy: prefix-threshold, threshold: {sweep: [0.25, 0.5]}, view: {loads: polled, poll_ms: 250, instances: 2}}")
	s := viewed.Configs[1].Router.Sight
	if s.Loads != "polled" || s.PollMs != 250 || s.Instances != 2 || s.Output != "exact" || s.NoticeMs != 10 {
		t.Errorf("the view is %+v", s)
	}
	if viewed.Runs[2].Key == base.Runs[2].Key || viewed.Runs[0].Key != base.Runs[0].Key {
		t.Error("a view must change the keys of its own router's cells and of no others")
	}
	failing := mustPlan(t, "    gpu: a6000\n", "    gpu: a6000\n    events: {crash: {event: fail, replica: 1, at_s: 5, back_s: 9, requests: lose}, lame: {event: slow, replica: 0, factor: 3}}\n")
	events := failing.Configs[0].Cluster.Config.Events
	if len(events) != 2 || events[0].Replica != 1 || events[0].AtNs != 5e9 || events[0].BackNs != 9e9 || events[0].Retry || events[1].Factor != 3 {
		t.Errorf("events are %+v", events)
	}
	if failing.Runs[0].Key == base.Runs[0].Key {
		t.Error("events do not change the key")
	}
	for _, c := range []struct{ old, new, want string }{
		{sticky, "{name: sticky, policy: prefix-threshold, view: {loads: stale}}", `value "stale": expected one of policy, local, live, polled, corrected`},
		{sticky, "{name: sticky, policy: prefix-threshold, view: {poll: 3}}", `did you mean "poll_ms"?`},
		{"    gpu: a6000\n", "    gpu: a6000\n    events: {crash: {event: fail, replica: 2}}\n", "events.crash.replica: value \"2\": expected a replica of the cluster, 0 to 1"},
		{"    gpu: a6000\n", "    gpu: a6000\n    events: {crash: {event: fail, replica: 1, at_s: 5, back_s: 4}}\n", "events.crash.back_s: value \"4\": expected a time after at_s, which is 5"},
		{"    gpu: a6000\n", "    gpu: a6000\n    events: {crash: {event: fall, replica: 1}}\n", `did you mean "fail"?`},
		{"    gpu: a6000\n", "    gpu: a6000\n    events: {crash: fail}\n", "events.crash"},
		{"    gpu: a6000\n", "    gpu: a6000\n    events: {crash: {event: join, replica: 1, at_s: 1, back_s: 4}}\n", "only a replica that fails or drains comes back"},
		{"    gpu: a6000\n", "    gpu: a6000\n    events: {crash: {event: slow, replica: 1, at_s: 1}}\n", "slow from the start"},
	} {
		if _, err := planned(t, c.old, c.new); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s gives %v, expected %q", c.new, err, c.want)
		}
	}
}

// Table decisions has a row a replica of each decision, in agreement with the
// requests that were routed, and asking for it changes no other table.
func TestDecisions(t *testing.T) {
	without, with, part := t.TempDir(), t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), Options{}, without, 1)
	execute(t, mustPlan(t, "{requests: all}", "{requests: all, decisions: 1}"), Options{}, with, 2)
	execute(t, mustPlan(t, "{requests: all}", "{requests: all, decisions: 0.25}"), Options{}, part, 1)
	plain, asked := files(t, without), files(t, with)
	for path, data := range plain {
		if !bytes.Equal(asked[path], data) && !bytes.Contains([]byte(path), []byte("part-")) {
			t.Errorf("%s differs", path)
		}
	}
	requests, err := Requests.Read(with)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Decisions.Read(with)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2*len(requests) {
		t.Fatalf("%d rows for %d requests on two replicas", len(rows), len(requests))
	}
	regret, affinity := 0, 0
	for i := range requests {
		q, pair := requests[i], rows[2*i:2*i+2]
		least := math.Inf(1)
		for k, d := range pair {
			if d.Cell != q.Cell || d.Request != q.Request || d.Replica != int32(k) || d.Chosen != (q.Replica == int32(k)) || !d.Up || d.TimeUs != q.ArrivalUs {
				t.Fatalf("decision %+v beside request %+v", d, q)
			}
			if d.Cached > q.PromptTokens || d.Estimate == nil || (d.RegretUs != nil) != d.Chosen {
				t.Fatalf("decision is %+v", d)
			}
			least = min(least, *d.Estimate)
			if d.Chosen && (d.Believed != nil && q.BelievedTokens != nil && *d.Believed != *q.BelievedTokens) {
				t.Fatalf("decision %+v believes in other tokens than request %+v", d, q)
			}
			if d.Rule == "affinity" {
				affinity++
			}
		}
		for _, d := range pair {
			if d.Hindsight != (*d.Estimate == least) || d.Chosen && math.Abs(*d.RegretUs-(*d.Estimate-least)) > 1e-9 {
				t.Fatalf("least estimate is %v, decision %+v", least, d)
			}
			if d.Chosen && *d.RegretUs > 0 {
				regret++
			}
		}
	}
	if regret < 10 || affinity < 10 {
		t.Errorf("%d decisions with regret and %d by affinity: this shows little", regret, affinity)
	}
	lame := t.TempDir()
	execute(t, mustPlan(t, "{requests: all}", "{requests: all, decisions: 1}", "    gpu: a6000\n", "    gpu: a6000\n    events: {lame: {event: slow, replica: 1, factor: 3}}\n"), Options{}, lame, 1)
	slow, err := Decisions.Read(lame)
	if err != nil {
		t.Fatal(err)
	}
	// The first decision of all finds both replicas empty.
	if a, b := *slow[0].Estimate, *slow[1].Estimate; math.Abs(b/a-3) > 1e-9 {
		t.Errorf("on a replica that is slow by 3 the first token is estimated at %v us, on the other at %v", b, a)
	}
	some, err := Decisions.Read(part)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(some); n%2 != 0 || n < len(rows)/8 || n > len(rows)/2 {
		t.Errorf("a quarter of %d rows is %d", len(rows), n)
	}
}

// The lower bound stands where all requests of the window finish, and below
// their mean whatever happens to the replicas: not where some are turned away,
// whose work the bound counts and the mean leaves out.
func TestBoundHolds(t *testing.T) {
	for _, events := range []string{
		"{lame: {event: slow, replica: 0, factor: 2}}",
		"{quick: {event: slow, replica: 0, factor: 0.1}, too: {event: slow, replica: 1, factor: 0.1}}",
		"{a: {event: drain, replica: 0, at_s: 20}, b: {event: drain, replica: 1, at_s: 20}}",
		"{a: {event: fail, replica: 0, at_s: 20, requests: lose}, b: {event: fail, replica: 1, at_s: 20, back_s: 30, requests: lose}}",
	} {
		dir, with, without := t.TempDir(), 0, 0
		execute(t, mustPlan(t, "    gpu: a6000\n", "    gpu: a6000\n    events: "+events+"\n"), Options{}, dir, 1)
		cells, err := Cells.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			switch {
			case (c.E2EBoundUs != nil) != (c.Measured == c.InWindow):
				t.Errorf("%s: cell %d has bound %v with %d of %d requests measured", events, c.Cell, c.E2EBoundUs, c.Measured, c.InWindow)
			case c.E2EBoundUs == nil:
				without++
			case *c.E2EBoundUs > *c.E2EMeanUs:
				t.Errorf("%s: cell %d has bound %v above its mean of %v", events, c.Cell, *c.E2EBoundUs, *c.E2EMeanUs)
			default:
				with++
			}
		}
		if lost := !strings.Contains(events, "slow"); lost && without == 0 || !lost && with == 0 {
			t.Errorf("%s: %d cells with a bound, %d without", events, with, without)
		}
	}
}
