package simulate

import (
	"errors"
	"io"
	"strings"

	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// A cluster names its GPU and its model, or has a section of figures under the
// same key. These are the two forms of each, for decoding the item.
type (
	modelName struct {
		Model string `yaml:"model" default:"" doc:"model that every replica serves: a name of list models, or a section of its figures"`
	}
	modelFigures struct {
		Model experiment.Section `yaml:"model" doc:"figures of the model"`
	}
	gpuName struct {
		GPU string `yaml:"gpu" default:"" doc:"GPU of every replica: a name of list gpus, or a section of its figures"`
	}
	gpuFigures struct {
		GPU experiment.Section `yaml:"gpu" doc:"figures of the GPU"`
	}
)

// StepParams is the one parameter that every section `step` has; the step
// model's own stand beside it. In a cluster without that section the step is a
// roofline, whose parameters stand in the cluster itself.
type StepParams struct {
	Model string `yaml:"model" default:"roofline" doc:"how long a step takes; see list steps"`
}

// Hardware is what a replica is made of and how long its steps take.
type Hardware struct {
	GPU      hardware.GPU   // zero where none is named
	Model    hardware.Model // likewise
	Step     hardware.StepModel
	Params   hardware.StepParams
	identity []string // canonical parameters of GPU and model
	measured string   // digest of a table of steps
}

// ClusterParts returns the parameters of an item of `clusters` that has no
// section step, as pointers to structs.
func ClusterParts() []any {
	return []any{new(ClusterParams), new(modelName), new(gpuName), new(hardware.RooflineParams)}
}

// forms returns the structs that an item of `clusters` decodes into for the
// keys gpu, model and, without a section step, those of the roofline.
func (h *Hardware) forms(in experiment.Section) []any {
	forms := []any{new(modelName), new(gpuName)}
	if _, own := in.Section("model"); own {
		forms[0] = new(modelFigures)
	}
	if _, own := in.Section("gpu"); own {
		forms[1] = new(gpuFigures)
	}
	if !given(in, "step") {
		h.Step, _ = hardware.FindStepModel("roofline")
		h.Params = h.Step.New()
		forms = append(forms, h.Params)
	}
	return forms
}

// given reports whether the file has something under key.
func given(in experiment.Section, key string) bool {
	for _, k := range in.Keys() {
		if k == key {
			return true
		}
	}
	return false
}

// decodeParts finds or decodes the GPU and the model of an item.
func (h *Hardware) decodeParts(in experiment.Section) error {
	return experiment.Join(h.decodeGPU(in), h.decodeModel(in))
}

func (h *Hardware) decodeGPU(in experiment.Section) error {
	if own, ok := in.Section("gpu"); ok {
		var p hardware.GPUParams
		err := own.Decode(1, &p)
		h.GPU = p.GPU()
		p.Name = "custom" // a name is no part of the identity
		h.identity = append(h.identity, param.Nest("gpu", param.Canonical(&p))...)
		return err
	}
	name, _ := in.String("gpu")
	var err error
	h.GPU, err = find(in, "gpu", name, hardware.GPUs(), func(g hardware.GPU) string { return g.Name })
	h.identity = append(h.identity, "gpu="+param.Format(name))
	return err
}

func (h *Hardware) decodeModel(in experiment.Section) error {
	if own, ok := in.Section("model"); ok {
		var p hardware.ModelParams
		if err := own.Decode(1, &p); err != nil {
			return err
		}
		h.Model = p.Model()
		p.Name = "custom"
		h.identity = append(h.identity, param.Nest("model", param.Canonical(&p))...)
		return nil
	}
	name, _ := in.String("model")
	var err error
	h.Model, err = find(in, "model", name, hardware.Models(), func(m hardware.Model) string { return m.Name })
	h.identity = append(h.identity, "model="+param.Format(name))
	return err
}

// decodeStep decodes the section step of an item, where it has one.
func (h *Hardware) decodeStep(in experiment.Section) error {
	step, ok := in.Section("step")
	if !ok {
		return nil
	}
	var own StepParams
	param.Defaults(&own)
	if name, ok := step.String("model"); ok {
		own.Model = name
	}
	found, err := find(step, "model", own.Model, hardware.StepModels(), func(s hardware.StepModel) string { return s.Name })
	if err != nil {
		return err
	}
	h.Step, h.Params = found, found.New()
	if err := step.Decode(1, &own, h.Params); err != nil {
		return err
	}
	if table, ok := h.Params.(*hardware.TableParams); ok {
		table.Points, h.measured, err = loadSteps(step)
	}
	return err
}

// loadSteps reads the file of a table of steps, and returns its digest.
func loadSteps(step experiment.Section) (points []hardware.Point, digest string, err error) {
	path, err := step.Path("file")
	if err != nil {
		return nil, "", err
	}
	file, err := experiment.Open(path)
	if err != nil {
		return nil, "", step.Errorf("file", "a readable table of steps: "+err.Error(), nil)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err == nil {
		points, err = ReadSteps(path, data)
	}
	if err != nil {
		return nil, "", step.Errorf("file", "a readable table of steps: "+err.Error(), nil)
	}
	return points, stepsDigest(points), nil
}

// require refuses sections without a GPU or a model that something needs: the
// step model, or the KV capacity unless it is sized already.
func (h *Hardware) require(gpu, model experiment.Section, sized bool) error {
	why := ", since the KV cache has no size of its own"
	if sized {
		why = ", since step model " + h.Step.Name + " needs one"
	}
	var wrong error
	if h.GPU.Name == "" && (!sized || h.Step.NeedsGPU) {
		wrong = gpu.Errorf("gpu", "a name of list gpus or a section of figures"+why, nil)
	}
	if h.Model.Name == "" && (!sized || h.Step.NeedsModel) {
		wrong = experiment.Join(wrong, model.Errorf("model", "a name of list models or a section of figures"+why, nil))
	}
	return wrong
}

// stepKey says all that the step model contributes to what happens in a cell.
// The roofline's parameters read alike wherever they stand.
func (h *Hardware) stepKey() []string {
	canonical := param.Canonical(h.Params)
	if h.Step.Name == "roofline" {
		return canonical
	}
	if h.measured != "" {
		canonical = []string{"points=" + h.measured} // wherever the file lies
	}
	return append([]string{"step.model=" + h.Step.Name}, param.Nest("step", canonical)...)
}

// atField puts a *param.Error of an item at its place in the file.
func atField(in experiment.Section, err error) error {
	var wrong *param.Error
	if errors.As(err, &wrong) {
		return in.Errorf(wrong.Field, wrong.Expected, nil)
	}
	return in.Errorf("step", strings.TrimPrefix(err.Error(), "step: "), nil)
}
