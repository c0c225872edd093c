package generate

import (
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
)

// Arrivals is an arrival process as other stages decode it.
type Arrivals struct {
	Parameters []string // all that decides it, but seed and replication
	// Process returns the process of a replication.
	Process func(replication int) (workload.Process, error)
	// Times is how many times a trace has; 0 of any other process.
	Times int
}

// Arrivals decodes a section that names a process.
func (d *Decoder) Arrivals(s experiment.Section) (*Arrivals, error) {
	a, err := d.arrivals(s, 1)
	if err != nil {
		return nil, err
	}
	return &Arrivals{a.parameters, a.replication, a.recorded}, nil
}

// Recorded decodes a section that names a trace, with what stands beside it,
// and returns its requests' lengths and all that decides them.
func (d *Decoder) Recorded(s experiment.Section, beside ...any) (prompt, output []int32, parameters []string, err error) {
	play, err := d.play(s, 1, beside...)
	if err != nil {
		return nil, nil, nil, err
	}
	err = play.each(1, d.Seed, func(r *workload.Request) error {
		prompt, output = append(prompt, r.Prompt), append(output, r.Output)
		return nil
	})
	return prompt, output, play.parameters, err
}
