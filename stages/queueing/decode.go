package queueing

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"switchyard/sim/param"
	"switchyard/sim/queueing"
	"switchyard/stages/experiment"
	"switchyard/stages/trace"
)

// DispatchParams are the sections of an item of `dispatch`; the parameters of
// queueing.System and queueing.Traffic stand beside them.
type DispatchParams struct {
	Information queueing.Information `yaml:"information"`
	Arrivals    experiment.Section   `yaml:"arrivals"`
	Sizes       experiment.Section   `yaml:"sizes"`
}

// ArrivalsParams is what every section arrivals has; the process's parameters
// stand beside it.
type ArrivalsParams struct {
	Process string `yaml:"process" default:"poisson" doc:"arrival process; see list processes"`
}

// SizesParams is what every section sizes has; the law's parameters stand
// beside it.
type SizesParams struct {
	Law string `yaml:"law" default:"exponential" doc:"law of the sizes; see list sizes"`
}

// PolicyParams is what every item of policies has; the policy's parameters
// stand beside it.
type PolicyParams struct {
	Policy string `yaml:"policy" required:"true" doc:"dispatch policy; see list policies"`
}

// decoded is a part of a study with the texts that stand for it.
type decoded[T any] struct {
	value T
	label string // for people: "lognormal c2=8.5"
	key   string // for keys: the whole of it, lists by their hash
}

// system is a decoded item of dispatch.
type system struct {
	config   queueing.Config // without policy and warm-up
	arrivals decoded[queueing.Arrivals]
	sizes    decoded[queueing.Sizes]
}

// policy is a decoded item of policies.
type policy struct {
	entry queueing.Policy
	decoded[queueing.Params]
}

// decoder decodes the points of one experiment, what they share once.
type decoder struct {
	errs     []error
	systems  map[experiment.Section]*system
	policies map[experiment.Section]*policy
	balls    map[experiment.Section]*queueing.Balls
	traces   map[string]*trace.Requests
}

func newDecoder() *decoder {
	return &decoder{
		systems: map[experiment.Section]*system{}, policies: map[experiment.Section]*policy{},
		balls: map[experiment.Section]*queueing.Balls{}, traces: map[string]*trace.Requests{},
	}
}

// once decodes a section the first time it is met; nil after a failure.
func once[T any](d *decoder, known map[experiment.Section]*T, s experiment.Section, decode func(experiment.Section) (*T, error)) *T {
	if t, ok := known[s]; ok {
		return t
	}
	t, err := decode(s)
	if err != nil {
		d.errs = append(d.errs, err)
		t = nil
	}
	known[s] = t
	return t
}

func (d *decoder) system(s experiment.Section) (*system, error) {
	var own DispatchParams
	var out system
	err := s.Decode(1, &own, &out.config.System, &out.config.Traffic)
	out.config.Information = own.Information
	var wrong [2]error
	out.arrivals, wrong[0] = d.arrivals(own.Arrivals)
	out.sizes, wrong[1] = d.sizes(own.Sizes)
	if err := experiment.Join(err, wrong[0], wrong[1]); err != nil {
		return nil, err
	}
	if times, ok := out.arrivals.value.(*queueing.Times); ok && times.KeepRate {
		if _, given := s.String("load"); given {
			return nil, s.Errorf("load", "no load beside arrivals.keep_rate: true, whose times bring their own", nil)
		}
	}
	out.config.Arrivals, out.config.Sizes = out.arrivals.value, out.sizes.value
	out.config.Count()
	return &out, nil
}

func (d *decoder) arrivals(s experiment.Section) (decoded[queueing.Arrivals], error) {
	if _, traced := s.String("trace"); traced {
		return d.recordedArrivals(s)
	}
	var own ArrivalsParams
	name := nameOf(s, "process", "poisson")
	p, err := find(s, "process", name, queueing.Processes(), func(p queueing.Process) string { return p.Name })
	if err != nil {
		return decoded[queueing.Arrivals]{}, err
	}
	value := p.New()
	err = s.Decode(1, &own, value) // before its texts are made
	return describe(value, p.Name), err
}

func (d *decoder) sizes(s experiment.Section) (decoded[queueing.Sizes], error) {
	if _, traced := s.String("trace"); traced {
		return d.recordedSizes(s)
	}
	var own SizesParams
	name := nameOf(s, "law", "exponential")
	l, err := find(s, "law", name, queueing.SizeLaws(), func(l queueing.SizeLaw) string { return l.Name })
	if err != nil {
		return decoded[queueing.Sizes]{}, err
	}
	value := l.New()
	err = s.Decode(1, &own, value)
	return describe(value, l.Name), err
}

func (d *decoder) policy(s experiment.Section) (*policy, error) {
	name, ok := s.String("policy")
	if !ok {
		return nil, s.Errorf("policy", "the name of a dispatch policy; see list policies", nil)
	}
	entry, err := find(s, "policy", name, queueing.Policies(), func(p queueing.Policy) string { return p.Name })
	if err != nil {
		return nil, err
	}
	var own PolicyParams
	value := entry.New()
	if err := s.Decode(1, &own, value); err != nil {
		return nil, err
	}
	return &policy{entry, describe(value, name)}, nil
}

func (d *decoder) ballsOf(s experiment.Section) (*queueing.Balls, error) {
	b := new(queueing.Balls)
	return b, s.Decode(1, b)
}

// nameOf returns the name under a key, or the default.
func nameOf(s experiment.Section, key, standard string) string {
	if name, ok := s.String(key); ok {
		return name
	}
	return standard
}

// find looks a name up in a table.
func find[E any](s experiment.Section, key, name string, table []E, nameOf func(E) string) (found E, err error) {
	known := make([]string, len(table))
	for i, e := range table {
		if known[i] = nameOf(e); known[i] == name {
			return e, nil
		}
	}
	return found, s.Errorf(key, "one of "+strings.Join(known, ", "), known)
}

// longestLabel is how much of a part's parameters a row spells out.
const longestLabel = 120

// describe returns a part with its texts.
func describe[T any](value T, name string) decoded[T] {
	text := strings.Join(append([]string{name}, param.Canonical(value)...), " ")
	out := decoded[T]{value: value, label: text, key: text}
	if len(text) > longestLabel { // a list of values
		sum := sha256.Sum256([]byte(text))
		out.key = name + " " + hex.EncodeToString(sum[:])
		out.label = name + " " + hex.EncodeToString(sum[:6])
	}
	return out
}

// place turns what is wrong with a whole study into errors at the part of the
// file that can mend it.
func place(err error, dispatch, policy experiment.Section, params queueing.Params) error {
	var all []error
	var each func(err error)
	each = func(err error) {
		var wrong *param.Error
		switch many, ok := err.(interface{ Unwrap() []error }); {
		case ok:
			for _, e := range many.Unwrap() {
				each(e)
			}
		case !errors.As(err, &wrong):
			all = append(all, policy.Errorf("policy", "a study that can run: "+err.Error(), nil))
		default:
			at := dispatch
			for _, f := range param.Fields(params) {
				if f.Name == wrong.Field {
					at = policy
				}
			}
			expected := wrong.Expected
			if _, given := at.String(wrong.Field); !given && wrong.Value != "" {
				expected = fmt.Sprintf("%s, not %s", expected, wrong.Value)
			}
			all = append(all, at.Errorf(wrong.Field, expected, nil))
		}
	}
	each(err)
	return experiment.Join(all...)
}
