package calibrate

import (
	"fmt"
	"strings"

	"switchyard/sim/hardware"
	"switchyard/sim/param"
)

// block writes the server as an item of `clusters`.
func (s *study) block() (string, error) {
	f := s.all.form
	step, scheduler, err := f.parameters(s.all.x)
	if err != nil {
		return "", err
	}
	e := f.engine
	var b strings.Builder
	fmt.Fprintf(&b, "clusters:\n  - name: calibrated\n    replicas: %d\n", s.runs[0].replicas)
	if e.Model.Name != "" {
		fmt.Fprintf(&b, "    model: %s\n", e.Model.Name)
	}
	if e.GPU.Name != "" {
		fmt.Fprintf(&b, "    gpu: %s\n", e.GPU.Name)
	}
	if e.TensorParallel > 1 {
		fmt.Fprintf(&b, "    tensor_parallel: %d\n", e.TensorParallel)
	}
	if e.Model.Name != "" && e.Model.Weights != hardware.BF16 {
		fmt.Fprintf(&b, "    weight_dtype: %s\n", e.Model.Weights)
	}
	if e.Model.Name != "" && e.Model.KV != hardware.BF16 {
		fmt.Fprintf(&b, "    kv_dtype: %s\n", e.Model.KV)
	}
	if e.kvTokens(scheduler) >= unbounded/2 {
		fmt.Fprintf(&b, "    kv_tokens: %d  # no bound is known: put in what the server has\n", unbounded)
	}
	lines := func(section, kind string, parameters any) {
		fmt.Fprintf(&b, "    %s:\n      %s\n", section, kind)
		for _, line := range param.Canonical(parameters) {
			name, value, _ := strings.Cut(line, "=")
			fmt.Fprintf(&b, "      %s: %s\n", name, value)
		}
	}
	lines("step", "model: "+f.step.Name, step)
	lines("engine", "scheduler: "+e.Scheduler, scheduler)
	return b.String(), nil
}
