package generate

import (
	"fmt"

	"switchyard/sim/param"
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
)

// Decoder decodes workloads of one experiment. It reads each trace once. It is
// not safe for concurrent use.
type Decoder struct {
	Seed   uint64
	traces map[traceID]*loaded
}

// Decode is Decoder.Decode for a single item.
func Decode(in experiment.Instance, replicas int, seed uint64) (*Variant, error) {
	return (&Decoder{Seed: seed}).Decode(in, replicas)
}

// Decode resolves an item of `workloads` for a cluster of that many replicas.
// The error joins an *experiment.Error for everything that is wrong with it.
func (d *Decoder) Decode(in experiment.Instance, replicas int) (*Variant, error) {
	_, generated := in.Section.String("generator")
	_, traced := in.Section.String("trace")
	switch {
	case generated && traced:
		return nil, in.Section.Errorf("trace", "no trace beside a generator; arrivals: {process: trace, trace: ...} uses a trace's times", nil)
	case traced:
		return d.trace(in, replicas)
	}
	return d.generated(in, replicas)
}

// generatedItem are the keys that all generated workloads have.
type generatedItem struct {
	Generator string             `yaml:"generator" required:"true" doc:"what makes the requests; see list workloads"`
	Requests  int                `yaml:"requests" required:"true" min:"1" max:"100000000" per_replica:"true" doc:"number of requests"`
	Arrivals  experiment.Section `yaml:"arrivals" doc:"when they arrive"`
}

// GeneratedParams returns the parameters that all generated workloads have, as
// a pointer to a struct.
func GeneratedParams() []any { return []any{new(generatedItem)} }

func (d *Decoder) generated(in experiment.Instance, replicas int) (*Variant, error) {
	var item generatedItem
	generator, parameters, err := decodeGenerator(in.Section, replicas, &item)
	section, ok := in.Section.Section("arrivals")
	if !ok {
		return nil, experiment.Join(err, in.Section.Errorf("arrivals", "a section with a process; see list workloads", nil))
	}
	times, wrong := d.arrivals(section, replicas)
	if err := experiment.Join(err, wrong); err != nil {
		return nil, err
	}
	if times.closed {
		if err := openPace(in.Section); err != nil {
			return nil, err
		}
	}
	v := &Variant{Name: in.Name, seed: d.Seed, requests: item.Requests, blockTokens: 16, rate: times.rate, source: generated, notes: times.notes}
	v.parameters = append([]string{"generator=" + item.Generator, fmt.Sprintf("requests=%d", item.Requests)}, parameters...)
	v.parameters = append(v.parameters, param.Nest("arrivals", times.parameters)...)
	v.each = func(replication int, emit func(*workload.Request) error) error {
		process, err := times.replication(replication)
		if err != nil {
			return err
		}
		spec := workload.Spec{Seed: d.Seed, Replication: replication, Requests: item.Requests, Generator: generator, Arrivals: process}
		return spec.Each(emit)
	}
	if times.recorded > 0 {
		// How many sessions there are, each of which needs a time, is known
		// only when they are made.
		_, err := times.replication(1)
		if err == nil && times.recorded < item.Requests {
			err = v.each(1, func(*workload.Request) error { return nil })
		}
		if err != nil {
			return nil, in.Section.Errorf("arrivals.trace", "another trace, or fewer requests: "+err.Error(), nil)
		}
	}
	return v.seal(), nil
}
