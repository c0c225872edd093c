package aggregate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/simulate"
)

// Missing names the replications that a configuration lacks.
type Missing struct {
	Job          string
	Config       int32
	Name         string // "tool rate_rps=4 / a6000x4 / sticky threshold=0.25"
	Replications []int32
	Wanted       int // replications that it should have
}

// String says which replications of which configuration are missing.
func (m Missing) String() string {
	if len(m.Replications) == m.Wanted {
		return m.Name + ": all replications"
	}
	return fmt.Sprintf("%s: replications %s of %d", m.Name, ranges(m.Replications), m.Wanted)
}

// MissingError refuses an aggregate over part of the replications.
type MissingError struct {
	Of             []Missing // in order of the grid
	Configurations int       // in the grid, complete ones included
}

const mostListed = 10

// Error lists the configurations and says what to do.
func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d configurations lack replications:", len(e.Of), e.Configurations)
	for i, m := range e.Of {
		if i == mostListed {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Of)-i)
			break
		}
		b.WriteString("\n  " + m.String())
	}
	b.WriteString("\nrun the experiment again to add them (what is done is kept; table failures says why cells failed), or pass --allow-missing to go without")
	return b.String()
}

// replications returns what the configuration lacks.
func (e *MissingError) replications(c *configuration) []int32 {
	i := slices.IndexFunc(e.Of, func(m Missing) bool { return m.Job == c.Job && m.Config == c.Config })
	if i < 0 {
		return nil
	}
	return e.Of[i].Replications
}

// wanted is a configuration of the grid with its replications.
type wanted struct {
	place
	name         string
	replications []int32
	pools        int32 // in a replication; 0 in other jobs than choose
}

// place is a configuration's position over all jobs.
type place struct {
	job    string
	config int32
}

// findMissing compares the configurations with the plans or, without any, with
// the replications that any of them has. The result's list is empty where
// nothing is missing.
func findMissing(configs []*configuration, o Options) *MissingError {
	have := map[place]*configuration{}
	for _, c := range configs {
		have[place{c.Job, c.Config}] = c
	}
	list := wantedOf(configs, o)
	out := &MissingError{Configurations: len(list)}
	for _, w := range list {
		var lacks []int32
		for _, r := range w.replications {
			if c := have[w.place]; c == nil || !slices.Contains(c.replications, r) {
				lacks = append(lacks, r)
			}
		}
		if lacks != nil {
			out.Of = append(out.Of, Missing{w.job, w.config, w.name, w.ofReplications(lacks), len(w.ofReplications(w.replications))})
		}
	}
	return out
}

// wantedOf lists the configurations that should be there, in order of the
// grid.
func wantedOf(configs []*configuration, o Options) []wanted {
	if o.planned() {
		return slices.Concat(planned(o.Plan), queued(o.Queueing), selected(o.Choose), deployable(o.Serve))
	}
	// A workload without chance in it has one replication, others have all.
	// Worlds, in the place of clusters, may differ in their pools.
	type workload struct{ job, point, world string }
	of := func(c *configuration) workload {
		if c.Job != experiment.Choose && c.Job != experiment.Serve {
			return workload{c.Job, c.WorkloadPoint, ""}
		}
		return workload{c.Job, c.WorkloadPoint, c.ClusterPoint}
	}
	union := map[workload][]int32{}
	for _, c := range configs {
		w := of(c)
		union[w] = append(union[w], c.replications...)
	}
	for w, all := range union {
		slices.Sort(all)
		union[w] = slices.Compact(all)
	}
	var out []wanted
	for _, c := range configs {
		if !c.optional() {
			out = append(out, wanted{place{c.Job, c.Config}, c.name(), union[of(c)], c.pools})
		}
	}
	return out
}

// planned lists a plan's configurations; its runs have the replications of
// one behind each other.
func planned(plan *simulate.Plan) []wanted {
	if plan == nil {
		return nil
	}
	var out []wanted
	for _, r := range plan.Runs {
		c := r.Config
		if n := len(out); n == 0 || out[n-1].config != c.Index {
			out = append(out, wanted{place: place{experiment.Simulate, c.Index}, name: c.WorkloadPoint + " / " + c.ClusterPoint + " / " + c.RouterPoint})
		}
		w := &out[len(out)-1]
		w.replications = append(w.replications, int32(r.Replication))
	}
	return out
}

// queued lists the configurations of both jobs of the other plan.
func queued(plan *queueing.Plan) []wanted {
	if plan == nil {
		return nil
	}
	var out []wanted
	for _, r := range slices.Concat(plan.Balls, plan.Dispatch) {
		at := place{r.Config.Job, r.Config.Index}
		if n := len(out); n == 0 || out[n-1].place != at {
			out = append(out, wanted{place: at, name: r.Config.Name()})
		}
		w := &out[len(out)-1]
		w.replications = append(w.replications, int32(r.Replication))
	}
	return out
}

// selected lists the configurations of the plan of choices.
func selected(plan *choose.Plan) []wanted {
	if plan == nil {
		return nil
	}
	var out []wanted
	for _, r := range plan.Runs {
		at := place{experiment.Choose, r.Config.Index}
		if n := len(out); n == 0 || out[n-1].place != at {
			out = append(out, wanted{place: at, name: r.Config.Name(), pools: int32(r.Config.Pools())})
		}
		w := &out[len(out)-1]
		for pool := range w.pools {
			w.replications = append(w.replications, int32(r.Replication-1)*w.pools+pool+1)
		}
	}
	return out
}

// ofReplications turns pools into the replications that they belong to.
func (w *wanted) ofReplications(pools []int32) []int32 {
	if w.pools <= 1 {
		return pools
	}
	out := make([]int32, len(pools))
	for i, p := range pools {
		out[i] = (p-1)/w.pools + 1
	}
	return slices.Compact(out)
}

// ranges writes ascending numbers as 1..3, 5.
func ranges(numbers []int32) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		first, last := strconv.Itoa(int(numbers[i])), strconv.Itoa(int(numbers[j]))
		switch {
		case j == i:
			parts = append(parts, first)
		case j == i+1:
			parts = append(parts, first, last)
		default:
			parts = append(parts, first+".."+last)
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
