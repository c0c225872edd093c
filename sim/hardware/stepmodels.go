package hardware

import "switchyard/sim/engine"

// StepParams are the parameters of a step model: a pointer to a tagged struct.
type StepParams interface {
	// Build returns the step model of a replica of m on degree GPUs g. What the
	// table says that it does not need may be zero.
	Build(g GPU, m Model, degree int) (engine.StepModel, error)
}

// StepModel is one entry of the table of step models.
type StepModel struct {
	Name, Summary, Source string
	NeedsGPU, NeedsModel  bool              // a figure of theirs enters the time
	New                   func() StepParams // parameters, without defaults set
}

var stepModels = []StepModel{
	{"roofline", "the slower of compute and memory traffic at assumed shares of their peaks; the default", "Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009", true, true, func() StepParams { return new(RooflineParams) }},
	{"linear", "a sum over requests, prefill tokens and context, with measured or fitted coefficients", "the form of many published fits", false, false, func() StepParams { return new(LinearParams) }},
	{"max-linear", "prefill compute or weights, whichever is slower, plus context; the form to fit measured engines with", "after measurements of vLLM 0.23; attention from the model's shape", false, true, func() StepParams { return new(MaxLinearParams) }},
	{"regression", "the functions that Preble fitted to its measurements", "Srivatsa and others, ICLR 2025, arXiv:2407.00023, model_equations.py", false, false, func() StepParams { return new(RegressionParams) }},
	{"table", "measured steps from a CSV file, interpolated, and extended in straight lines beyond them", "one's own measurements", false, false, func() StepParams { return new(TableParams) }},
}

// StepModels lists the step models.
func StepModels() []StepModel { return stepModels }

// FindStepModel returns the step model of that name.
func FindStepModel(name string) (StepModel, bool) {
	for _, s := range stepModels {
		if s.Name == name {
			return s, true
		}
	}
	return StepModel{}, false
}
