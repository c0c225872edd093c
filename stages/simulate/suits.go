package simulate

import (
	"fmt"

	"switchyard/sim/router"
)

// suits notes, before anything runs, where a router does not go with a workload:
// replay asks for replicas that the trace does not name, or that the cluster
// does not have. All replications are alike in that, so the first one tells.
func (d *decoder) suits(c *Config) {
	if c.Workload == nil || c.Cluster == nil || c.Router == nil {
		return
	}
	checked, ok := c.Router.Params.(router.Checked)
	if !ok {
		return
	}
	replicas := c.Cluster.Params.Replicas
	pair := fmt.Sprintf("%s\n%d\n%s", c.Workload.Key(), replicas, c.Router.key())
	if d.suited[pair] {
		return
	}
	d.suited[pair] = true
	w, err := c.Workload.Build(1)
	if err == nil {
		err = checked.Check(w, replicas)
	}
	if err != nil {
		d.errs = append(d.errs, c.point.Part("router").Section.Errorf("policy",
			fmt.Sprintf("a policy that goes with workload %s on cluster %s: %v", c.Workload.Name, c.Cluster.Name, err), nil))
	}
}
