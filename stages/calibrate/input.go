package calibrate

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"

	"switchyard/stages/trace"
)

// InputError is what is wrong with the measured runs or with what is said of
// the server.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

func input(format string, values ...any) error {
	return &InputError{fmt.Errorf(format, values...)}
}

// enough is how many requests a fitted run has at least: half a dozen
// coefficients are fitted, and each tenth of the run is left out in turn.
const enough = 20

// checkRuns refuses runs with too few requests, and the same requests twice:
// counted double, or as predicted where they were fitted.
func checkRuns(runs, held []*trace.Measured) error {
	if len(runs) == 0 {
		return input("no measured runs to fit to")
	}
	for _, m := range runs {
		if n := len(m.Requests); n < enough {
			return input("%s has %d measured requests, expected at least %d to fit to", m.File, n, enough)
		}
	}
	all := append(append([]*trace.Measured(nil), runs...), held...)
	for i, m := range all {
		for j, o := range all[:i] {
			if !reflect.DeepEqual(m.Latency, o.Latency) || !reflect.DeepEqual(m.Requests, o.Requests) {
				continue
			}
			if i >= len(runs) && j < len(runs) {
				return input("%s, held out, has the same requests as %s, which is fitted: hold out another run", m.File, o.File)
			}
			return input("%s and %s have the same requests: give each run once", o.File, m.File)
		}
	}
	return nil
}

// hopeless is the error of a mean, on what was fitted, above which a fit
// describes nothing.
const hopeless = 0.2

// doubt says where the fit misses what it was fitted to, "" where it does not.
func (r *Result) doubt() string {
	for _, c := range r.Comparisons {
		for _, e := range c.Errors {
			if c.Set == "all" && e.Metric != "tpot" && !(math.Abs(e.Mean) <= hopeless) {
				return fmt.Sprintf("this model does not describe these data; are the units seconds? After the fit, the mean %s of %s is off by %+.0f %%",
					strings.ToUpper(e.Metric), filepath.Base(c.File), 100*e.Mean)
			}
		}
	}
	return ""
}
