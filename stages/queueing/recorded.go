package queueing

import (
	"path/filepath"

	"switchyard/sim/queueing"
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
	"switchyard/stages/trace"
)

// RecordedParams play a trace: its times in section arrivals, its tokens in
// section sizes.
type RecordedParams struct {
	Trace string `yaml:"trace" required:"true" doc:"file, relative to the experiment file"`
	trace.Source
}

// RecordedArrivals are the times of a trace.
type RecordedArrivals struct {
	RecordedParams
	KeepRate bool `yaml:"keep_rate" doc:"true: times are in seconds, the unit of the sizes; false: they are scaled to give the load"`
}

// RecordedSizes are sizes in proportion to a trace's tokens, in its order.
type RecordedSizes struct {
	RecordedParams
	Of   string  `yaml:"of" default:"total" enum:"total|prompt|output" doc:"tokens that a size counts"`
	Mean float64 `yaml:"mean" default:"1" min:"0.000000001" max:"1000000000" doc:"mean size, in the unit of time"`
}

// asPlayed returns recorded times or sizes with their texts. The key hashes the
// values as they are played, not the file: its format and the tokens of a block,
// which a file need not say, decide them too.
func asPlayed[T any](value T, label string) decoded[T] {
	return decoded[T]{value, label, label + " " + describe(value, "").key}
}

func (d *decoder) recordedArrivals(s experiment.Section) (out decoded[queueing.Arrivals], err error) {
	var p RecordedArrivals
	if err := s.Decode(1, &p); err != nil {
		return out, err
	}
	requests, err := d.read(s, p.RecordedParams)
	if err != nil {
		return out, err
	}
	times := &queueing.Times{KeepRate: p.KeepRate}
	err = requests.Each(func(_ int, q *workload.Request) error {
		if q.After != workload.None {
			return s.Errorf("trace", "a trace in which no request waits for the end of another", nil)
		}
		times.Values = append(times.Values, float64(q.ArrivalUs)*1e-6)
		return nil
	})
	if err != nil {
		return out, err
	}
	if err := times.Check(); err != nil {
		return out, s.Errorf("trace", "a trace of at least two requests that do not come at once", nil)
	}
	label := "trace " + filepath.Base(p.Trace)
	if p.KeepRate {
		label += " keep_rate=true"
	}
	return asPlayed[queueing.Arrivals](times, label), nil
}

func (d *decoder) recordedSizes(s experiment.Section) (out decoded[queueing.Sizes], err error) {
	var p RecordedSizes
	if err := s.Decode(1, &p); err != nil {
		return out, err
	}
	requests, err := d.read(s, p.RecordedParams)
	if err != nil {
		return out, err
	}
	sizes := &queueing.EmpiricalSizes{Mean: p.Mean, InOrder: true}
	err = requests.Each(func(_ int, q *workload.Request) error {
		tokens := map[string]int64{"prompt": int64(q.Prompt), "output": int64(q.Output)}
		tokens["total"] = tokens["prompt"] + tokens["output"]
		sizes.Values = append(sizes.Values, float64(tokens[p.Of]))
		return nil
	})
	if err != nil {
		return out, err
	}
	label := "trace " + filepath.Base(p.Trace) + " of=" + p.Of
	if p.Mean != 1 {
		label = describe(&queueing.ExponentialSizes{Scale: queueing.Scale{Mean: p.Mean}}, label).label
	}
	return asPlayed[queueing.Sizes](sizes, label), nil
}

// read reads a trace, once for all that name it.
func (d *decoder) read(s experiment.Section, p RecordedParams) (*trace.Requests, error) {
	path, err := s.Path("trace")
	if err != nil {
		return nil, err
	}
	id := path + "\n" + canonical(&p.Source)
	if r := d.traces[id]; r != nil {
		return r, nil
	}
	unreadable := func(err error) error { return s.Errorf("trace", "a readable trace: "+err.Error(), nil) }
	file, err := experiment.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	r, err := trace.Load(path, file, p.Source, trace.Options{Speed: 1})
	if err != nil {
		return nil, unreadable(err)
	}
	d.traces[id] = r
	return r, nil
}
