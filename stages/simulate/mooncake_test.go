package simulate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/sim/router"
	"switchyard/stages/experiment"
)

// TestMooncake plays an hour of Mooncake's conversations on eight H100 under
// every router, half loaded, near the limit and past it: what the trace could
// hit is a fact of the trace, no router hits more, and what it misses is lost to
// routing or to eviction.
func TestMooncake(t *testing.T) {
	data := os.Getenv("SWITCHYARD_DATA")
	if data == "" {
		t.Skip("SWITCHYARD_DATA does not name a folder with traces/mooncake-conversation.jsonl")
	}
	var names []string
	for _, p := range router.Policies() {
		if p.Name != "recorded" { // the trace does not say where requests went
			names = append(names, p.Name)
		}
	}
	text := fmt.Sprintf(`
name: conversations
warm_up: 0
tables: {workload: false, requests: none, replicas: false}
workloads:
  - {name: c, trace: %q, format: mooncake, speed: {sweep: [2, 3.5, 5]}}
clusters:
  - {name: h, replicas: 8, model: llama-3.1-8b, gpu: h100, engine: {chunk_tokens: 8192}}
routers: [%s]
`, filepath.Join(data, "traces", "mooncake-conversation.jsonl"), strings.Join(names, ", "))
	e, err := experiment.Load("conversations.yaml", []byte(text), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	execute(t, p, Options{}, dir, 2)
	cells, err := Cells.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 3*len(names) {
		t.Fatalf("%d cells, want %d", len(cells), 3*len(names))
	}
	for _, c := range cells {
		name := fmt.Sprintf("%s at %s", c.Router, c.WorkloadPoint)
		if c.Finished != 12031 || c.PromptTokens != 144793823 || c.CeilingTokens != 54098411 {
			t.Errorf("%s: %d requests finish, ceiling %d of %d tokens; want 12,031 and 54,098,411 of 144,793,823", name, c.Finished, c.CeilingTokens, c.PromptTokens)
		}
		hit, routing, eviction, flight := *c.HitRate, *c.LostToRouting, *c.LostToEviction, *c.LostInFlight
		if hit > *c.HitCeiling || math.Abs(hit+routing+eviction-*c.HitCeiling) > 1e-12 {
			t.Errorf("%s: hits %v, loses %v to routing and %v to eviction, ceiling %v", name, hit, routing, eviction, *c.HitCeiling)
		}
		if flight < 0 || flight > routing || eviction < 0 {
			t.Errorf("%s: loses %v in flight of %v to routing, and %v to eviction", name, flight, routing, eviction)
		}
		if c.Router == "cache-aware" && c.Saturated != strings.HasSuffix(c.WorkloadPoint, "=5") {
			t.Errorf("%s: saturated is %v; want it past the limit alone", name, c.Saturated)
		}
	}
}
