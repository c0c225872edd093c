package router

import (
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// choicesOf drives a policy over a workload and returns where it sends each
// request; nil where it does not go with it. Every policy draws from the same
// stream, so that none differs by its luck.
func choicesOf(p Policy, w *workload.Workload, replicas int, up []int32) []int {
	d, ok := newBench(p, w, replicas)
	if !ok {
		return nil
	}
	d.view.Up = up
	d.reset("pairs")
	log := &logged{Router: d.router}
	d.router = log
	d.run()
	return log.choices
}

type logged struct {
	Router
	choices []int
}

func (l *logged) Route(id int32, v *View) int {
	to := l.Router.Route(id, v)
	l.choices = append(l.choices, to)
	return to
}

// made is a workload of a generator at its defaults, 6 requests a second.
func made(t *testing.T, requests int, g workload.Generator) *workload.Workload {
	t.Helper()
	arrivals := new(workload.Poisson)
	param.Defaults(arrivals)
	arrivals.RPS = 6
	w, err := (&workload.Spec{Seed: 1, Replication: 1, Requests: requests, Generator: g, Arrivals: arrivals}).Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// same are pairs that are one policy under their defaults, each with the reason.
var same = map[[2]string]string{
	{"least-requests", "aibrix-least-request"}: "AIBrix's rule is join the shortest queue with ties at random",
}

// For every two policies there is a state in which they choose differently. Both
// see the same requests; up to the first choice in which they differ they have
// made the same ones, so that the state is one and the same.
func TestEveryPairDiffers(t *testing.T) {
	chat, documents := new(workload.Chat), new(workload.LongDocuments)
	param.Defaults(chat)
	param.Defaults(documents)
	chat.Turns, documents.Document = "open", 60_000
	scenes := []struct {
		w        *workload.Workload
		replicas int
		up       []int32
	}{
		{toolCalls(t, 3000), 8, all(8)},
		{made(t, 3000, chat), 6, []int32{0, 1, 3, 4, 5}}, // sessions, and a replica that is down
		{made(t, 400, documents), 3, all(3)},             // more to compute than Dynamo lets go
	}
	policies := Policies()
	choices := make([][][]int, len(policies))
	for i, p := range policies {
		for _, s := range scenes {
			choices[i] = append(choices[i], choicesOf(p, s.w, s.replicas, s.up))
		}
	}
	first := func(i, j int) (scene, request int) {
		for s := range scenes {
			for k := range min(len(choices[i][s]), len(choices[j][s])) {
				if choices[i][s][k] != choices[j][s][k] {
					return s, k
				}
			}
		}
		return -1, -1
	}
	differing := 0
	for i, p := range policies {
		if p.Name != "recorded" && choices[i][0] == nil {
			t.Errorf("%s does not go with the first scene", p.Name)
		}
		for j := range policies[:i] {
			q := policies[j]
			scene, _ := first(i, j)
			reason := same[[2]string{q.Name, p.Name}]
			driven := choices[i][0] != nil && choices[j][0] != nil
			if scene >= 0 {
				differing++
			}
			switch {
			case driven && scene < 0 && reason == "":
				t.Errorf("%s and %s choose the same everywhere", q.Name, p.Name)
			case scene >= 0 && reason != "":
				t.Errorf("%s and %s differ, and are noted to be the same: %s", q.Name, p.Name, reason)
			}
		}
	}
	if n := len(policies) - 1; differing != n*(n-1)/2-len(same) { // all but recorded, see TestRecorded
		t.Errorf("%d pairs differ", differing)
	}
	for i, p := range policies { // and none from itself: a policy is a function of what it has seen
		for s, scene := range scenes {
			if again := choicesOf(p, scene.w, scene.replicas, scene.up); !slices.Equal(again, choices[i][s]) {
				t.Errorf("%s chooses differently when it is asked again", p.Name)
			}
		}
	}
}
