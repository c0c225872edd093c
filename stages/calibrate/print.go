package calibrate

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// Print writes what a person wants to know.
func (r *Result) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	r.printErrors(t)
	r.printCoefficients(t)
	if r.Doubt != "" {
		fmt.Fprintf(t, "\nNothing to expect elsewhere and nothing to paste: %s\n", r.Doubt)
	} else {
		r.printOutlook(t)
		fmt.Fprintf(t, "\nPaste into an experiment file:\n\n%s", r.Block)
	}
	return t.Flush()
}

var setNames = map[string]string{
	"all":      "what was fitted",
	"tenths":   "left-out tenths, by fits without them",
	"runs":     "left-out run, by the fit to the others",
	"held-out": "held-out run",
}

func (r *Result) printErrors(w io.Writer) {
	fmt.Fprintf(w, "Error of the simulation, %% (95 %% interval)\n\nrun\tset\tmetric\tmeasured\tmean\tmedian\tP99\teach\n")
	for _, c := range r.Comparisons {
		for _, e := range c.Errors {
			fmt.Fprintf(w, "%s\t%s\t%s\t%.1f ms\t%s\t%+.1f\t%s\t%.1f\n", filepath.Base(c.File), setNames[c.Set], strings.ToUpper(e.Metric), e.Measured/1e3,
				within(e.Mean, e.Lo, e.Hi), 100*e.Median, within(e.P99, e.P99Lo, e.P99Hi), 100*e.Each)
		}
	}
	fmt.Fprint(w, "\nmean, median, P99: of the simulated ones over the measured ones; each: mean over requests of the absolute error of each.\n"+
		"Intervals: bootstrap over blocks of 40 requests, widened by how far fits part that the data cannot tell apart.\n")
	if a := r.Async; a != nil {
		choice := "asynchronous scheduling"
		if a.Without < a.With {
			choice = "no asynchronous scheduling"
		}
		fmt.Fprintf(w, "Taken: %s (loss %.1f with it, %.1f without, after a short search).\n", choice, a.With, a.Without)
	}
}

func within(x, lo, hi float64) string {
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*x, 100*lo, 100*hi)
}

func (r *Result) printCoefficients(w io.Writer) {
	fmt.Fprintf(w, "\nCoefficients of %s, loss %.2f\n\nname\tvalue\terror\tsuggested\tnoticed alone\tnoticed together\t\n", r.Step, r.Loss)
	for _, c := range r.Coefficients {
		verdict := "from the data"
		switch {
		case c.Together >= 1 && c.Alone >= .5:
			verdict = "hardly from the data"
		case c.Together >= 1:
			verdict = "from the data only in sum with others"
		case c.Together >= .3:
			verdict = "roughly from the data"
		}
		margin := "at the search's bound"
		switch {
		case c.Error != nil && *c.Error <= 1e-9*c.Value: // no fit without a tenth has moved it
			margin = "not moved"
		case c.Error != nil:
			margin = "± " + figure(*c.Error)
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\t%s\t%s\t%s\n", c.Name, figure(c.Value), c.Unit, margin, figure(c.Start), percent(c.Alone), percent(c.Together), verdict)
	}
	fmt.Fprint(w, "\nnoticed: relative change that moves means over groups of requests by their noise, the other coefficients fixed or compensating; never: not even ten times the coefficient.\n"+
		"Where the data are silent, a coefficient stays near what the hardware's figures suggest.\n"+
		"loss: mean over requests of |Δ log E2E| / 0.01 + |Δ log TTFT| / 0.1 + |Δ log sorted TTFT| / 0.05: errors of 1 %, 10 % and 5 % make 3.\n"+
		"\n")
	if n := len(r.Singular); n > 0 {
		fmt.Fprint(w, "Singular values of the Jacobian:")
		for _, s := range r.Singular {
			fmt.Fprintf(w, " %.3g", s)
		}
		fmt.Fprint(w, "; least is said about")
		for _, c := range r.Coefficients {
			if math.Abs(c.Weakest) > .2 {
				fmt.Fprintf(w, " %+.2f %s", c.Weakest, c.Name)
			}
		}
		fmt.Fprint(w, " (relative changes).\n")
	}
	if r.Step == "max-linear" {
		fmt.Fprint(w, "From the model's shape, not from the data: the attention of prefills. Assumed: tiles of 128 tokens, and how compute takes over from weights (knee).\n")
	}
	for _, x := range r.Rivals {
		fmt.Fprintf(w, "Instead, %s: loss %.2f", x.Name, x.Loss)
		if !x.Used {
			fmt.Fprint(w, ", refuted")
		}
		fmt.Fprint(w, ".\n")
	}
}

func (r *Result) printOutlook(w io.Writer) {
	m := r.Measured
	fmt.Fprintf(w, "\nElsewhere: mean (± 95 %%); measured were %s requests/s, prompts of %s, outputs of %s tokens\n\n",
		span("%.2g", m.RateLo, m.RateHi), span("%d", m.PromptLo, m.PromptHi), span("%d", m.OutputLo, m.OutputHi))
	fmt.Fprint(w, "workload\trequests/s\tin the system\tTTFT\tTPOT\tE2E\toutside of what was measured\n")
	for _, o := range r.Outlook {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f", o.Name, o.Rate, o.Crowd)
		for k := range o.Mean {
			if math.IsNaN(o.Mean[k]) { // no time per output token: every output has one
				fmt.Fprint(w, "\t-")
				continue
			}
			fmt.Fprintf(w, "\t%.1f ms ± %.1f %%", o.Mean[k]/1e3, 100*o.Half[k])
		}
		fmt.Fprintf(w, "\t%s\n", o.Outside)
	}
}

// span prints two ends, or one where they read the same.
func span(format string, lo, hi any) string {
	a, b := fmt.Sprintf(format, lo), fmt.Sprintf(format, hi)
	if a == b {
		return a
	}
	return a + " to " + b
}

// figure prints four digits.
func figure(x float64) string { return fmt.Sprintf("%.4g", x) }

func percent(x float64) string {
	if math.IsInf(x, 0) || x > 9.99 {
		return "never"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}
