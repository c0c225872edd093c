package generate

import (
	"errors"
	"fmt"
	"slices"

	"switchyard/sim/param"
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
)

// componentItem are the keys of a mixture's component, beside the parameters
// of its generator.
type componentItem struct {
	Generator string   `yaml:"generator" required:"true" doc:"what makes the component's requests"`
	Share     float64  `yaml:"share" default:"1" min:"0" doc:"share of the requests, relative to those of the other components"`
	Tags      []string `yaml:"tags" doc:"tags of its requests; the component's name by default"`
}

// ComponentParams returns the parameters that all components of a mixture
// have, as a pointer to a struct.
func ComponentParams() []any { return []any{new(componentItem)} }

// mixtureItem is the section that a mixture has in the place of parameters.
type mixtureItem struct {
	Components experiment.Section `yaml:"components" doc:"by name: generator, its parameters, share, tags"`
}

// decodeGenerator finds the generator that a section names and decodes its
// parameters and item, whatever stands beside them.
func decodeGenerator(s experiment.Section, replicas int, item any) (workload.Generator, []string, error) {
	name, ok := s.String("generator")
	if !ok {
		return nil, nil, s.Errorf("generator", "a generator, or a trace; see list workloads", generatorNames())
	}
	entry, ok := workload.FindGenerator(name)
	if !ok {
		return nil, nil, s.Errorf("generator", "a generator; see list workloads", generatorNames())
	}
	generator := entry.New()
	mixture, ok := generator.(*workload.Mixture)
	if !ok {
		err := s.Decode(replicas, item, generator)
		return generator, param.Canonical(generator), err
	}
	var section mixtureItem
	if err := s.Decode(replicas, item, &section); err != nil {
		return nil, nil, err
	}
	if len(section.Components.Keys()) == 0 {
		return nil, nil, s.Errorf("components", "one component or more, such as tools: {generator: tool-use, share: 0.7}", nil)
	}
	parameters, err := decodeComponents(mixture, section.Components, replicas)
	if err == nil && mixture.Check() != nil { // names are keys, shares have bounds: only their sum is left
		err = s.Errorf("components", "a component with a share above 0", nil)
	}
	return mixture, parameters, err
}

// decodeComponents fills a mixture, in the order of the file.
func decodeComponents(m *workload.Mixture, s experiment.Section, replicas int) ([]string, error) {
	var parameters []string
	var errs []error
	for _, name := range s.Keys() {
		below, ok := s.Section(name)
		if !ok {
			errs = append(errs, s.Errorf(name, "a component, such as tools: {generator: tool-use, share: 0.7}; components are a mapping by name, while a list would be variants of which each configuration takes one", nil))
			continue
		}
		var item componentItem
		generator, own, err := decodeGenerator(below, replicas, &item)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		tags := item.Tags
		if len(tags) == 0 {
			tags = []string{name}
		}
		m.Components = append(m.Components, workload.Component{Name: name, Share: item.Share, Tags: tags, Generator: generator})
		own = append(own, "generator="+item.Generator, fmt.Sprintf("share=%s", param.Format(item.Share)), fmt.Sprintf("tags=%q", tags))
		parameters = append(parameters, param.Nest("components."+name, own)...)
	}
	return parameters, errors.Join(errs...)
}

func generatorNames() []string {
	var names []string
	for _, g := range workload.Generators() {
		names = append(names, g.Name)
	}
	return names
}

// arrivals is an arrival process that may differ from replication to
// replication.
type arrivals struct {
	rate        float64 // 0 without one
	parameters  []string
	notes       []string // see Variant.Notes
	closed      bool     // sessions start when others have ended
	recorded    int      // times of a trace; 0 of any other process
	replication func(replication int) (workload.Process, error)
}

// arrivalsItem names the process, beside its parameters.
type arrivalsItem struct {
	Process string `yaml:"process" required:"true" doc:"arrival process; see list workloads"`
}

func (d *Decoder) arrivals(s experiment.Section, replicas int) (*arrivals, error) {
	name, ok := s.String("process")
	entry, known := workload.FindProcess(name)
	if !ok || !known {
		return nil, s.Errorf("process", "an arrival process", processNames())
	}
	process := entry.New()
	var item arrivalsItem
	if _, ok := process.(*workload.Recorded); ok {
		return d.recorded(s, replicas, &item)
	}
	if err := s.Decode(replicas, &item, process); err != nil {
		return nil, err
	}
	a := &arrivals{
		parameters:  append([]string{"process=" + name}, param.Canonical(process)...),
		replication: func(int) (workload.Process, error) { return process, nil },
	}
	_, a.closed = process.(*workload.ClosedLoop)
	if rated, ok := process.(interface{ RateRps() float64 }); ok {
		a.rate = rated.RateRps()
	}
	return a, nil
}

// openPace returns an error at the first pace of a section that is open, which
// needs arrivals at times.
func openPace(s experiment.Section) error {
	if pace, _ := s.String("pace"); pace == "open" {
		return s.Errorf("pace", "closed, or arrivals at times: under process: closed-loop a session starts when another has ended", nil)
	}
	components, _ := s.Section("components")
	for _, name := range components.Keys() {
		below, _ := components.Section(name)
		if err := openPace(below); err != nil {
			return err
		}
	}
	return nil
}

// recorded are the times of a trace, resampled as the trace itself would be.
func (d *Decoder) recorded(s experiment.Section, replicas int, item *arrivalsItem) (*arrivals, error) {
	play, err := d.play(s, replicas, item)
	if err != nil {
		return nil, err
	}
	return &arrivals{
		parameters: append([]string{"process=trace"}, play.parameters...),
		notes:      play.notes,
		recorded:   play.cut.Len(),
		replication: func(replication int) (workload.Process, error) {
			var r workload.Recorded
			err := play.each(replication, d.Seed, func(q *workload.Request) error {
				if q.After != workload.None {
					return errors.New("trace of arrival times has a request that waits for another, expected times only")
				}
				r.TimesUs = append(r.TimesUs, q.ArrivalUs)
				return nil
			})
			return &r, err
		},
	}, nil
}

func processNames() []string {
	var names []string
	for _, p := range workload.Processes() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}
