package simulate

import (
	"strings"
	"testing"
)

// No one recorded where a generated workload went: replaying it is refused in
// the plan, at the router, unless there is one replica to go to.
func TestReplayOfGenerated(t *testing.T) {
	edits := []string{"  - round-robin\n", "  - recorded\n", "replicas: 2", "replicas: 1"}
	if _, err := planned(t, edits...); err != nil {
		t.Errorf("over one replica: %v", err)
	}
	_, err := planned(t, edits[:2]...)
	want := `expected a policy that goes with workload docs on cluster pair: router recorded: no replica was recorded for request 0`
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "routers") {
		t.Errorf("over two replicas: %v, want an error with %q", err, want)
	}
	if err != nil && strings.Count(err.Error(), want) != 1 {
		t.Errorf("said more than once:\n%v", err)
	}
}
