package calibrate

import (
	"fmt"
	"math"
	"strings"

	"switchyard/sim/param"
)

// block writes the server as an item of `clusters`.
func (s *study) block() (string, error) {
	f := s.all.form
	step, scheduler, err := f.parameters(s.all.x)
	if err != nil {
		return "", err
	}
	rounded := map[string]float64{}
	for i, c := range f.coef {
		rounded[c.name] = significant(f.value(s.all.x, i), 5)
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
	lines := func(section, kind string, parameters any) {
		fmt.Fprintf(&b, "    %s:\n      %s\n", section, kind)
		for _, line := range param.Canonical(parameters) {
			name, value, _ := strings.Cut(line, "=")
			if v, fitted := rounded[name]; fitted {
				value = param.Format(v)
			}
			fmt.Fprintf(&b, "      %s: %s\n", name, value)
		}
	}
	lines("step", "model: "+f.step.Name, step)
	lines("engine", "scheduler: "+e.Scheduler, scheduler)
	return b.String(), nil
}

// significant rounds to so many digits.
func significant(x float64, digits int) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
