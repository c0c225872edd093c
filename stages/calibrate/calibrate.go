package calibrate

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"switchyard/sim/cluster"
	"switchyard/stages/trace"
)

// Options say what is fitted.
type Options struct {
	Step     string // of Forms
	Engine   Engine
	Progress func(what string) // nil for quiet
}

// Result is a calibrated server.
type Result struct {
	Step         string
	Engine       Engine
	Loss         float64
	Async        *Choice // nil where it was not for the data to say
	Coefficients []Coefficient
	Singular     []float64 // see curve
	Comparisons  []Comparison
	Rivals       []Rival
	Outlook      []Outlook
	Measured     Range
	Rows         []Row
	Block        string // an item of clusters, as YAML; "" in doubt
	Doubt        string // why the fit is of no use; "" where it is
}

// Choice is the loss with and without asynchronous scheduling.
type Choice struct{ With, Without float64 }

// Comparison is the error on a set of requests of one recording.
type Comparison struct {
	Set      string // all, tenths, runs or held-out
	File     string
	Requests int
	Errors   []Error
}

// Rival is another fit that might be as right.
type Rival struct {
	Name string
	Loss float64
	Used bool // it is as good as the data can tell, and widens the intervals
}

// rivalMargin is how much more loss a rival may have to count.
const rivalMargin = 0.05

// study is a calibration in progress.
type study struct {
	options Options
	runs    []*recording
	held    []*recording
	start   *form
	all     fitted
	folds   []fitted
	rivals  []fitted // those used
	result  *Result
}

func (s *study) say(format string, values ...any) {
	if s.options.Progress != nil {
		s.options.Progress(fmt.Sprintf(format, values...))
	}
}

// Run fits a server to measured runs. Held runs count for nothing but the error
// on them.
func Run(ctx context.Context, runs, held []*trace.Measured, o Options) (*Result, error) {
	s := &study{options: o, result: &Result{Step: o.Step}}
	if err := checkRuns(runs, held); err != nil {
		return nil, err
	}
	for i, m := range append(append([]*trace.Measured(nil), runs...), held...) {
		r, err := newRecording(m)
		if err != nil {
			return nil, err
		}
		if i < len(runs) {
			s.runs = append(s.runs, r)
		} else {
			s.held = append(s.held, r)
		}
	}
	for _, step := range []func(context.Context) error{s.choose, s.fitAll, s.leaveOut, s.rival, s.compare, s.look} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s.result, s.finish()
}

// choose decides on asynchronous scheduling by which of both fits better, unless
// the options say or the scheduler has none.
func (s *study) choose(ctx context.Context) (err error) {
	e := s.options.Engine
	if s.start, err = newForm(s.options.Step, e, s.runs); err != nil || e.Scheduler != "vllm-v1" || e.sets("async_scheduling") {
		return err
	}
	s.say("is scheduling asynchronous?")
	var forms [2]*form
	var fits [2]fitted
	g, ctx := parallel(ctx)
	for i, value := range []string{"async_scheduling=true", "async_scheduling=false"} {
		with := e
		with.Set = append(append([]string(nil), e.Set...), value)
		if forms[i], err = newForm(s.options.Step, with, s.runs); err != nil {
			return err
		}
		g.Go(func() (err error) {
			fits[i], err = fit(ctx, forms[i], data{s.runs, -1}, forms[i].begin(), fromAfar)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s.result.Async = &Choice{fits[0].loss, fits[1].loss}
	s.start = forms[0]
	if fits[1].loss < fits[0].loss {
		s.start = forms[1]
	}
	return nil
}

func parallel(ctx context.Context) (*errgroup.Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	return g, ctx
}

// fromStart fits to a part of the data that begins with what the hardware
// suggests, so that nothing of the rest is known.
func (s *study) fromStart(ctx context.Context, d data) (fitted, error) {
	return fit(ctx, s.start, d, s.start.begin(), fromAfar)
}

func (s *study) fitAll(ctx context.Context) (err error) {
	s.say("fit to %s", count(len(s.runs), "run"))
	if s.all, err = s.fromStart(ctx, data{s.runs, -1}); err != nil {
		return err
	}
	s.result.Loss = s.all.loss
	s.result.Engine = s.all.form.engine
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// leaveOut fits with each tenth of every recording left out.
func (s *study) leaveOut(ctx context.Context) error {
	s.say("leave out tenths")
	s.folds = make([]fitted, folds)
	g, ctx := parallel(ctx)
	for k := range folds {
		g.Go(func() (err error) {
			s.folds[k], err = s.fromStart(ctx, data{s.runs, k})
			s.say("left out tenth %d", k+1)
			return err
		})
	}
	return g.Wait()
}

// rival fits what the data might not tell from the fit: other assumptions about
// what they do not hold, and another form.
func (s *study) rival(ctx context.Context) error {
	s.say("fit rivals")
	type candidate struct {
		name  string
		form  *form
		from  []float64
		steps int
	}
	var all []candidate
	if s.options.Step == "max-linear" {
		alter := func(name, parameter string, value any) {
			f := *s.start
			f.fixed = map[string]any{parameter: value}
			for k, v := range s.start.fixed {
				if k != parameter {
					f.fixed[k] = v
				}
			}
			all = append(all, candidate{name, &f, s.all.x, fromNear})
		}
		alter("a sharp knee", "knee", 0.0)
		alter("tokens as they are, not in tiles of 128", "tile_tokens", int64(0))
		alter("attention at half the speed of matrix products", "attention_efficiency", 0.5)
		linear, err := newForm("linear", s.start.engine, s.runs)
		if err != nil {
			return err
		}
		all = append(all, candidate{"the linear form", linear, linear.begin(), fromAfar})
	}
	fits := make([]fitted, len(all))
	g, ctx := parallel(ctx)
	for i, c := range all {
		g.Go(func() (err error) {
			fits[i], err = fit(ctx, c.form, data{s.runs, -1}, c.from, c.steps)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, c := range all {
		used := fits[i].loss <= s.all.loss*(1+rivalMargin)
		s.result.Rivals = append(s.result.Rivals, Rival{c.name, fits[i].loss, used})
		if used {
			s.rivals = append(s.rivals, fits[i])
		}
	}
	return nil
}

// spread returns the relative deviation of each metric's simulated mean over
// the fits that might be right: the jackknife's over left-out tenths, and how
// far the rivals are off.
func (s *study) spread(sim *cluster.Sim, r *recording) (of [3]float64, err error) {
	at := func(f fitted) (m [3]float64, err error) {
		l, err := simulateAll(sim, f.form, f.x, []*recording{r})
		if err != nil {
			return m, err
		}
		for k := range m {
			m[k] = mean(pairs(r, l[0], k, func(int) bool { return true }).simulated)
		}
		return m, nil
	}
	base, err := at(s.all)
	if err != nil {
		return of, err
	}
	var fold [folds][3]float64
	for i, f := range s.folds {
		if fold[i], err = at(f); err != nil {
			return of, err
		}
	}
	var off [3]float64
	for _, f := range s.rivals {
		m, err := at(f)
		if err != nil {
			return of, err
		}
		for k := range m {
			off[k] = max(off[k], math.Abs(relative(m[k], base[k])))
		}
	}
	for k := range of {
		centre, sum := 0.0, 0.0
		for i := range fold {
			centre += fold[i][k] / folds
		}
		for i := range fold {
			d := fold[i][k]/centre - 1
			sum += d * d
		}
		of[k] = math.Hypot(math.Sqrt(sum*(folds-1)/folds), off[k]/1.96)
	}
	return of, nil
}

// compare measures the error on everything: as fitted, on left-out tenths, on
// left-out runs, and on those that were held out.
func (s *study) compare(ctx context.Context) error {
	s.say("compare")
	sim := new(cluster.Sim)
	for k, r := range s.runs {
		spread, err := s.spread(sim, r)
		if err != nil {
			return err
		}
		own, err := simulateAll(sim, s.all.form, s.all.x, []*recording{r})
		if err != nil {
			return err
		}
		s.add("all", r, own[0], spread)
		left := newLatencies(r.work.Len())
		for part, f := range s.folds {
			l, err := simulateAll(sim, f.form, f.x, []*recording{r})
			if err != nil {
				return err
			}
			for i := range left.ttft {
				if r.part(i) == part {
					left.set(i, l[0].ttft[i], l[0].e2e[i], r.work.Output[i])
				}
			}
		}
		s.add("tenths", r, left, spread)
		if len(s.runs) == 1 {
			continue
		}
		var others []*recording
		for j, o := range s.runs {
			if j != k {
				others = append(others, o)
			}
		}
		f, err := s.fromStart(ctx, data{others, -1})
		if err != nil {
			return err
		}
		l, err := simulateAll(sim, f.form, f.x, []*recording{r})
		if err != nil {
			return err
		}
		s.add("runs", r, l[0], spread)
	}
	for _, r := range s.held {
		spread, err := s.spread(sim, r)
		if err != nil {
			return err
		}
		l, err := simulateAll(sim, s.all.form, s.all.x, []*recording{r})
		if err != nil {
			return err
		}
		s.add("held-out", r, l[0], spread)
	}
	return nil
}

// add notes a comparison and its rows.
func (s *study) add(set string, r *recording, l latencies, spread [3]float64) {
	c := Comparison{Set: set, File: r.name, Requests: r.work.Len()}
	for metric := range metricNames {
		p := pairs(r, l, metric, func(int) bool { return true })
		if len(p.measured) > 0 {
			c.Errors = append(c.Errors, newError(metric, p, spread[metric]))
		}
	}
	s.result.Comparisons = append(s.result.Comparisons, c)
	s.result.Rows = append(s.result.Rows, rows(set, r, l)...)
}

// finish fills in what the fit came to.
func (s *study) finish() error {
	curve, err := identify(s.all, s.runs)
	if err != nil {
		return err
	}
	values := s.all.form.values(s.all.x)
	for i, c := range s.all.form.coef {
		centre, sum := 0.0, 0.0
		for _, f := range s.folds {
			centre += f.form.value(f.x, i) / folds
		}
		for _, f := range s.folds {
			d := f.form.value(f.x, i) - centre
			sum += d * d
		}
		var jackknife *float64
		bound := s.all.form.bound(s.all.x, i)
		if !bound {
			e := math.Sqrt(sum * (folds - 1) / folds)
			jackknife = &e
		}
		s.result.Coefficients = append(s.result.Coefficients, Coefficient{
			Name: c.name, Unit: c.unit, Value: values[i], Start: c.start, From: c.from, Error: jackknife, AtBound: bound,
			Alone: curve.alone[i], Together: curve.together[i], Weakest: curve.weakest[i],
		})
	}
	s.result.Singular = curve.singular
	if s.result.Doubt = s.result.doubt(); s.result.Doubt == "" {
		s.result.Block, err = s.block()
	}
	return err
}
