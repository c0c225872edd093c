package simulate

import (
	"fmt"
	"strings"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// ClusterParams are the parameters of an item of `clusters`, beside those of
// the step model (hardware.RooflineParams) and the section `engine`
// (EngineParams and those of its scheduler).
type ClusterParams struct {
	Replicas          int     `yaml:"replicas" required:"true" min:"1" max:"4096" doc:"replicas behind the router"`
	Model             string  `yaml:"model" required:"true" doc:"model that every replica serves; see list models"`
	GPU               string  `yaml:"gpu" required:"true" doc:"GPU of every replica; see list gpus"`
	TensorParallel    int     `yaml:"tensor_parallel" default:"1" min:"1" max:"64" unit:"gpus" doc:"GPUs a replica"`
	MemoryUtilization float64 `yaml:"memory_utilization" default:"0.9" min:"0.01" max:"1" unit:"share" doc:"share of GPU memory for weights and KV cache"`
	KVTokens          int64   `yaml:"kv_tokens" default:"0" min:"0" unit:"tokens" doc:"KV cache of a replica; 0 means what memory leaves beside the weights"`
}

// EngineParams is the one parameter that every section `engine` has; the
// scheduler's own stand beside it.
type EngineParams struct {
	Scheduler string `yaml:"scheduler" default:"lecture" doc:"rules by which a replica forms steps; see list schedulers"`
}

// Cluster is a decoded item of `clusters`.
type Cluster struct {
	Name      string
	Params    ClusterParams
	Step      hardware.RooflineParams
	Scheduler string
	Engine    engine.Params
	Config    cluster.Config
}

// decodeCluster decodes an item of `clusters` and reports all that is wrong
// with it.
func decodeCluster(in experiment.Instance) (*Cluster, error) {
	c := &Cluster{Name: in.Name}
	var section struct {
		Engine experiment.Section `yaml:"engine" doc:"scheduler of every replica"`
	}
	wrong := in.Section.Decode(1, &c.Params, &c.Step, &section)
	if wrong != nil { // what can be told in spite of it
		section.Engine, _ = in.Section.Section("engine")
		c.Params.Model, _ = in.Section.String("model")
		c.Params.GPU, _ = in.Section.String("gpu")
	}
	model, err := find(in.Section, "model", c.Params.Model, hardware.Models(), func(m hardware.Model) string { return m.Name })
	wrong = experiment.Join(wrong, err)
	gpu, err := find(in.Section, "gpu", c.Params.GPU, hardware.GPUs(), func(g hardware.GPU) string { return g.Name })
	wrong = experiment.Join(wrong, err, c.decodeEngine(section.Engine))
	if wrong != nil {
		return nil, wrong
	}
	step, err := hardware.NewRoofline(gpu, model, c.Params.TensorParallel, c.Step)
	if err != nil {
		return nil, in.Section.Errorf("tensor_parallel", fmt.Sprintf("a divisor of the %d KV heads of %s", model.KVHeads, model.Name), nil)
	}
	kv := c.Params.KVTokens
	if kv == 0 {
		kv = hardware.KVCapacity(gpu, model, c.Params.TensorParallel, c.Params.MemoryUtilization)
	}
	if sized, ok := c.Engine.(engine.Sized); ok {
		kv = sized.KVTokens(kv)
	}
	if kv < 1 {
		return nil, in.Section.Errorf("gpu", fmt.Sprintf("memory for the %.1f GB of weights of %s: raise tensor_parallel or memory_utilization",
			float64(model.WeightBytes())/1e9, model.Name), nil)
	}
	c.Config = cluster.Config{Replicas: c.Params.Replicas, Step: step, KVTokens: kv, Engine: c.Engine}
	return c, nil
}

// decodeEngine decodes the section `engine`.
func (c *Cluster) decodeEngine(in experiment.Section) error {
	var own EngineParams
	param.Defaults(&own)
	if name, ok := in.String("scheduler"); ok {
		own.Scheduler = name
	}
	scheduler, err := find(in, "scheduler", own.Scheduler, engine.Schedulers(), func(s engine.Scheduler) string { return s.Name })
	if err != nil {
		return err
	}
	c.Scheduler, c.Engine = scheduler.Name, scheduler.New()
	return in.Decode(c.Params.Replicas, &own, c.Engine)
}

// find returns the entry of that name in a table of named things. An absent
// name is no error here: it is one of decoding.
func find[T any](s experiment.Section, key, name string, table []T, nameOf func(T) string) (entry T, err error) {
	known := make([]string, len(table))
	for i, e := range table {
		known[i] = nameOf(e)
		if known[i] == name {
			return e, nil
		}
	}
	if name == "" {
		return entry, nil
	}
	return entry, s.Errorf(key, "one of "+strings.Join(known, ", "), known)
}

// key says all that a cluster contributes to what happens in a cell.
func (c *Cluster) key() string {
	parts := append(param.Canonical(&c.Params), param.Canonical(&c.Step)...)
	if c.Scheduler != "lecture" {
		parts = append(parts, "engine.scheduler="+c.Scheduler)
	}
	for _, p := range param.Canonical(c.Engine) {
		parts = append(parts, "engine."+p)
	}
	return strings.Join(parts, "\n")
}
