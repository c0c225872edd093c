package simulate

import (
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// ClusterParams are the parameters of an item of `clusters`, beside its gpu and
// model, the section `step` (StepParams and those of the step model; without it
// hardware.RooflineParams stand in the item), and the section `engine`
// (EngineParams and those of its scheduler).
type ClusterParams struct {
	Replicas int `yaml:"replicas" required:"true" min:"1" max:"4096" doc:"replicas behind the router"`
	ReplicaParams
}

// ReplicaParams are those of a single replica.
type ReplicaParams struct {
	TensorParallel    int     `yaml:"tensor_parallel" default:"1" min:"1" max:"64" unit:"gpus" doc:"GPUs a replica"`
	MemoryUtilization float64 `yaml:"memory_utilization" default:"0.9" min:"0.01" max:"1" unit:"share" doc:"share of GPU memory for weights and KV cache"`
	KVTokens          int64   `yaml:"kv_tokens" default:"0" min:"0" unit:"tokens" doc:"KV cache of a replica; 0 means what memory leaves beside the weights"`
	WeightDType       string  `yaml:"weight_dtype" default:"bf16" enum:"bf16|fp8" doc:"data type of the weights of attention and feed-forward layers"`
	KVDType           string  `yaml:"kv_dtype" default:"bf16" enum:"bf16|fp8" doc:"data type of the KV cache"`
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
	Hardware  Hardware
	Scheduler string
	Engine    engine.Params
	Config    cluster.Config
	Events    []EventParams

	item experiment.Section
}

// stored returns the model in the data types of the cluster.
func (c *Cluster) stored() hardware.Model {
	weights, _ := hardware.FindDType(c.Params.WeightDType)
	kv, _ := hardware.FindDType(c.Params.KVDType)
	return c.Hardware.Model.With(weights, kv)
}

// decodeCluster decodes an item of `clusters` and reports all that is wrong
// with it.
func decodeCluster(in experiment.Instance) (*Cluster, error) {
	c := &Cluster{Name: in.Name, item: in.Section}
	var section struct {
		Engine experiment.Section `yaml:"engine" doc:"scheduler of every replica"`
		Step   experiment.Section `yaml:"step" doc:"step model of every replica"`
		Events experiment.Section `yaml:"events" doc:"what happens to replicas: named events"`
	}
	h := &c.Hardware
	wrong := in.Section.Decode(1, append(h.forms(in.Section), &c.Params, &section)...)
	if wrong != nil { // what can be told in spite of it
		section.Engine, _ = in.Section.Section("engine")
	}
	wrong = experiment.Join(wrong, h.decodeParts(in.Section), h.decodeStep(in.Section), c.decodeEngine(section.Engine), c.decodeEvents(section.Events))
	if wrong == nil {
		wrong = h.require(in.Section, in.Section, c.Params.KVTokens > 0 || c.blocks() > 0)
	}
	if wrong == nil && c.Params.KVTokens > 0 && c.blocks() > 0 {
		wrong = in.Section.Errorf("engine.num_blocks", fmt.Sprintf("no number of blocks beside kv_tokens, which is %d: each of the two sizes the KV cache, leave one out", c.Params.KVTokens), nil)
	}
	if wrong != nil {
		return nil, wrong
	}
	if err := c.build(in.Section, in.Section, c.stored()); err != nil {
		return nil, err
	}
	return c, nil
}

// build makes what a run takes from what has been decoded; gpu is the section
// that names the GPU.
func (c *Cluster) build(in, gpu experiment.Section, model hardware.Model) error {
	h, p := &c.Hardware, &c.Params
	if model.Name != "" {
		if err := model.CheckDegree(p.TensorParallel); err != nil {
			return atField(in, err)
		}
	}
	step, err := h.Params.Build(h.GPU, model, p.TensorParallel)
	if err != nil {
		return atField(in, err)
	}
	memory := c.memory(model)
	kv := c.sized(memory)
	if kv < 1 && memory > 0 {
		return in.Errorf("engine.block_size", fmt.Sprintf("blocks of at most the %d tokens of KV cache of a replica", memory), nil)
	}
	if kv < 1 {
		return gpu.Errorf("gpu", fmt.Sprintf("memory for the %.1f GB of weights of %s: raise tensor_parallel or memory_utilization",
			float64(model.WeightBytes())/1e9, model.Name), nil)
	}
	c.Config = cluster.Config{Replicas: p.Replicas, Step: step, KVTokens: kv, Engine: c.Engine, Events: eventsOf(c.Events)}
	return nil
}

// memory returns the tokens of KV cache of a replica, before its scheduler has
// a say: what the file says, or else what memory leaves beside the weights of
// the model, none without one.
func (c *Cluster) memory(model hardware.Model) int64 {
	if c.Params.KVTokens == 0 && model.Name != "" {
		return hardware.KVCapacity(c.Hardware.GPU, model, c.Params.TensorParallel, c.Params.MemoryUtilization)
	}
	return c.Params.KVTokens
}

// sized returns what the scheduler makes of so many tokens.
func (c *Cluster) sized(memory int64) int64 {
	if sized, ok := c.Engine.(engine.Sized); ok {
		return sized.KVTokens(memory)
	}
	return memory
}

// blocks returns the tokens of the blocks that the scheduler has whatever the
// memory, 0 without any.
func (c *Cluster) blocks() int64 { return c.sized(0) }

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
	parts := append(param.Canonical(&c.Params), c.Hardware.identity...)
	slices.Sort(parts)
	parts = append(parts, c.Hardware.stepKey()...)
	if c.Scheduler != "lecture" {
		parts = append(parts, "engine.scheduler="+c.Scheduler)
	}
	for _, p := range param.Canonical(c.Engine) {
		parts = append(parts, "engine."+p)
	}
	for i := range c.Events {
		parts = append(parts, param.Nest(fmt.Sprint("events.", i), param.Canonical(&c.Events[i]))...)
	}
	return strings.Join(parts, "\n")
}
