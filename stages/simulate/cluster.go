package simulate

import (
	"errors"
	"strings"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// ClusterParams are the parameters of an item of `clusters`, beside those of
// the step model (hardware.RooflineParams) and the section `engine`
// (engine.Params).
type ClusterParams struct {
	Replicas          int     `yaml:"replicas" required:"true" min:"1" max:"4096" doc:"replicas behind the router"`
	Model             string  `yaml:"model" required:"true" doc:"model that every replica serves; see list models"`
	GPU               string  `yaml:"gpu" required:"true" doc:"GPU of every replica; see list gpus"`
	TensorParallel    int     `yaml:"tensor_parallel" default:"1" min:"1" max:"64" unit:"gpus" doc:"GPUs a replica"`
	MemoryUtilization float64 `yaml:"memory_utilization" default:"0.9" min:"0.01" max:"1" unit:"share" doc:"share of GPU memory for weights and KV cache"`
	KVTokens          int64   `yaml:"kv_tokens" default:"0" min:"0" unit:"tokens" doc:"KV cache of a replica; 0 means what memory leaves beside the weights"`
}

// Cluster is a decoded item of `clusters`.
type Cluster struct {
	Name   string
	Params ClusterParams
	Step   hardware.RooflineParams
	Engine engine.Params
	Config cluster.Config
}

// decodeCluster decodes and completes an item of `clusters`.
func decodeCluster(in experiment.Instance) (*Cluster, error) {
	c := &Cluster{Name: in.Name}
	var section struct {
		Engine experiment.Section `yaml:"engine" doc:"scheduler of every replica"`
	}
	if err := in.Section.Decode(1, &c.Params, &c.Step, &section); err != nil {
		return nil, err
	}
	var errs []error
	if err := section.Engine.Decode(c.Params.Replicas, &c.Engine); err != nil {
		errs = append(errs, err)
	}
	model, ok := hardware.FindModel(c.Params.Model)
	if !ok {
		errs = append(errs, unknown(in.Section, "model", "a model", names(hardware.Models(), func(m hardware.Model) string { return m.Name })))
	}
	gpu, ok2 := hardware.FindGPU(c.Params.GPU)
	if !ok2 {
		errs = append(errs, unknown(in.Section, "gpu", "a GPU", names(hardware.GPUs(), func(g hardware.GPU) string { return g.Name })))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	step, err := hardware.NewRoofline(gpu, model, c.Params.TensorParallel, c.Step)
	if err != nil {
		return nil, in.Section.Errorf("tensor_parallel", err.Error(), nil)
	}
	kv := c.Params.KVTokens
	if kv == 0 {
		kv = hardware.KVCapacity(gpu, model, c.Params.TensorParallel, c.Params.MemoryUtilization)
	}
	if kv < 1 {
		return nil, in.Section.Errorf("gpu", "memory for the weights of "+model.Name+": raise tensor_parallel or memory_utilization", nil)
	}
	c.Config = cluster.Config{Replicas: c.Params.Replicas, Step: step, KVTokens: kv, Engine: c.Engine}
	return c, nil
}

// key says all that a cluster contributes to what happens in a cell.
func (c *Cluster) key() string {
	parts := append(param.Canonical(&c.Params), param.Canonical(&c.Step)...)
	for _, p := range param.Canonical(&c.Engine) {
		parts = append(parts, "engine."+p)
	}
	return strings.Join(parts, "\n")
}

func unknown(s experiment.Section, key, what string, known []string) error {
	return s.Errorf(key, what+": one of "+strings.Join(known, ", "), known)
}

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = name(v)
	}
	return out
}
