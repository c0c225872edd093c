package aggregate

import (
	"fmt"
	"reflect"
	"slices"

	"switchyard/stages/experiment"
	"switchyard/stages/serve"
)

// roles are what is chosen in each pool of the job serve: they compete as
// routers do. The first is the baseline.
var roles = []struct {
	name string
	of   func(r *serve.Row) bool
}{
	{"most accurate", func(r *serve.Row) bool { return r.BestAccuracy }},
	{"most accurate in slo", func(r *serve.Row) bool { return r.BestSLO }},
	{"best single model", func(r *serve.Row) bool { return r.BestSingle }},
}

// gatherDeployed groups the rows of table `served` that were chosen in their
// pool, a pool in the place of a replication. An assignment with several roles
// is in each of them.
func gatherDeployed(rows []serve.Row) ([]*configuration, error) {
	pools := map[int32]int32{} // in a replication, by configuration
	for i := range rows {
		pools[rows[i].Config] = max(pools[rows[i].Config], rows[i].Pool)
	}
	var cells []cell
	chosen := map[int32][]string{}
	for role := range roles {
		for i := range rows {
			r := &rows[i]
			if !roles[role].of(r) {
				continue
			}
			at := r.Config*int32(len(roles)) + int32(role)
			chosen[at] = append(chosen[at], join(" on ", r.Assignment, r.Split))
			cells = append(cells, cell{
				Where: Where{
					Job: experiment.Serve, Config: at,
					Workload: r.System + " in " + r.World, Cluster: r.Serving, Router: roles[role].name,
					WorkloadPoint: r.SystemPoint + " in " + r.WorldPoint, ClusterPoint: r.ServingPoint, RouterPoint: roles[role].name,
					Factors: r.Factors,
				},
				replication: (r.Replication-1)*pools[r.Config] + r.Pool, row: reflect.ValueOf(r).Elem(), measured: int64(r.Questions),
			})
		}
	}
	configs, err := gather(deployed, cells)
	for _, c := range configs {
		c.pools, c.chosen = pools[c.Config/int32(len(roles))], mostOften(chosen[c.Config])
	}
	return configs, err
}

// mostOften is the most frequent of some texts, of equals the first by name, and
// in how many of them it is.
func mostOften(texts []string) string {
	slices.Sort(texts)
	best, most := "", 0
	for i := 0; i < len(texts); {
		n := i
		for n < len(texts) && texts[n] == texts[i] {
			n++
		}
		if n-i > most {
			best, most = texts[i], n-i
		}
		i = n
	}
	if most < len(texts) {
		best += fmt.Sprintf(" (in %d of %d)", most, len(texts))
	}
	return best
}

// deployable lists what the plan of serving should have left: the most accurate
// assignment of each pool, which is always there.
func deployable(plan *serve.Plan) []wanted {
	if plan == nil {
		return nil
	}
	var out []wanted
	for _, r := range plan.Runs {
		at := place{experiment.Serve, r.Config.Index * int32(len(roles))}
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

// optional reports whether a configuration may lack replications: a pool in
// which nothing meets the objective, or no model serves all modules.
func (c *configuration) optional() bool {
	return c.Job == experiment.Serve && c.Config%int32(len(roles)) != 0
}
