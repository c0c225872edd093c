package simulate

import (
	"fmt"

	"switchyard/sim/cluster"
	"switchyard/stages/experiment"
)

// EventParams is one event of the section `events` of a cluster.
type EventParams struct {
	Event    string  `yaml:"event" required:"true" enum:"fail|drain|join|slow" doc:"what happens: the replica loses its memory and its requests; it serves those that it has and takes no more; it takes requests only from then on; or all its steps take longer"`
	Replica  int     `yaml:"replica" required:"true" min:"0" unit:"index" doc:"which replica"`
	AtS      float64 `yaml:"at_s" default:"0" min:"0" max:"1000000000" unit:"s" doc:"when it fails, stops or comes, since the first arrival"`
	BackS    float64 `yaml:"back_s" default:"0" min:"0" max:"1000000000" unit:"s" doc:"when it takes requests again, after a failure with an empty cache; 0 = never"`
	Requests string  `yaml:"requests" default:"retry" enum:"retry|lose" doc:"what becomes of the requests of a replica that fails: they are routed again at once, or lost"`
	Factor   float64 `yaml:"factor" default:"2" min:"0.01" max:"1000" unit:"ratio" doc:"of a slow replica: how many times as long its steps take"`
}

// decodeEvents decodes the section `events`.
func (c *Cluster) decodeEvents(in experiment.Section) error {
	var errs []error
	for _, name := range in.Keys() {
		part, ok := in.Section(name)
		if !ok {
			errs = append(errs, in.Errorf(name, "a mapping: event, replica, at_s ...", nil))
			continue
		}
		var e EventParams
		if err := part.Decode(c.Params.Replicas, &e); err != nil {
			errs = append(errs, err)
			continue
		}
		switch {
		case e.Replica >= c.Params.Replicas:
			errs = append(errs, part.Errorf("replica", fmt.Sprintf("a replica of the cluster, 0 to %d", c.Params.Replicas-1), nil))
		case e.BackS != 0 && e.BackS <= e.AtS:
			errs = append(errs, part.Errorf("back_s", fmt.Sprintf("a time after at_s, which is %v, or 0 for never", e.AtS), nil))
		case e.BackS != 0 && e.Event != "fail" && e.Event != "drain":
			errs = append(errs, part.Errorf("back_s", "no value: only a replica that fails or drains comes back", nil))
		case e.AtS != 0 && e.Event == "slow":
			errs = append(errs, part.Errorf("at_s", "no value: a slow replica is slow from the start", nil))
		}
		c.Events = append(c.Events, e)
	}
	return experiment.Join(errs...)
}

// eventsOf returns the events as a cluster takes them.
func eventsOf(list []EventParams) (out []cluster.Event) {
	kinds := map[string]cluster.EventKind{"fail": cluster.Fail, "drain": cluster.Drain, "join": cluster.Join, "slow": cluster.Slow}
	for _, e := range list {
		out = append(out, cluster.Event{
			Kind: kinds[e.Event], Replica: e.Replica, AtNs: int64(e.AtS * 1e9), BackNs: int64(e.BackS * 1e9),
			Factor: e.Factor, Retry: e.Requests == "retry",
		})
	}
	return out
}
