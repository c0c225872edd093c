package hardware

import (
	"cmp"
	"fmt"
	"slices"

	"switchyard/sim/engine"
	"switchyard/sim/param"
)

// Point is a measured step: new prefill tokens, decodes, the sum of the
// decodes' contexts before their new tokens, and the time.
type Point struct {
	Prefill, Decodes, Context int64
	Us                        float64
}

// Check refuses a point that is no step.
func (p Point) Check() error {
	switch {
	case p.Prefill < 0 || p.Decodes < 0 || p.Context < 0 || p.Prefill+p.Decodes == 0:
		return fmt.Errorf("%d prefill tokens, %d decodes and %d tokens of context, expected at least one new token and nothing negative", p.Prefill, p.Decodes, p.Context)
	case p.Decodes == 0 && p.Context > 0:
		return fmt.Errorf("a context of %d tokens without decodes, expected 0", p.Context)
	case !(p.Us > 0 && p.Us <= 1e12):
		return fmt.Errorf("a step of %v us, expected more than 0 and at most 1e12", p.Us)
	}
	return nil
}

// TableParams hold measured steps. Points are read from File by whoever may
// read files.
type TableParams struct {
	File   string  `yaml:"file" required:"true" doc:"CSV of measured steps: prefill_tokens, decodes, context_tokens (summed over decodes), step_us"`
	Points []Point `yaml:"-"`
}

// implausibleUs is a length that no engine step on a GPU comes near: launching
// the kernels of a few layers takes longer.
const implausibleUs = 10

// complete refuses points that cannot tell how long prefills or decodes take,
// and times in another unit, by a *param.Error on step.file.
func (p *TableParams) complete() error {
	var prefill, decode bool
	longest := 0.0
	for _, point := range p.Points {
		prefill, decode = prefill || point.Prefill > 0, decode || point.Decodes > 0
		longest = max(longest, point.Us)
	}
	expected := ""
	switch {
	case !prefill:
		expected = "a table of which some steps have prefill_tokens above 0: by this one a prompt of any length would cost the same"
	case !decode:
		expected = "a table of which some steps have decodes above 0: by this one any number of decodes would cost the same"
	case longest < implausibleUs:
		expected = fmt.Sprintf("a table of which some steps take at least %d us: in this one the longest takes %v us, and step_us is in microseconds, not in seconds or milliseconds", implausibleUs, longest)
	default:
		return nil
	}
	return &param.Error{Field: "step.file", Value: p.File, Expected: expected}
}

// Build implements StepParams. Some points must have prefill tokens, some
// decodes, and not all be shorter than 10 us.
func (p *TableParams) Build(GPU, Model, int) (engine.StepModel, error) {
	if err := p.complete(); err != nil {
		return nil, err
	}
	t, err := NewTable(p.Points)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Table interpolates measured steps. It implements engine.StepModel.
//
// Its three coordinates are prefill tokens, decodes, and the mean context of a
// decode, in this order. At each, the measured values just below and above are
// taken, the time at both is found by the remaining coordinates, and a line is
// laid through the two. So the points need no full grid: each prefill value may
// have its own decode values, and each of those its own contexts. A measured
// point is met exactly; points of one place are averaged; on a full grid this
// is trilinear interpolation; and times that are linear in prefill tokens,
// decodes and the sum of contexts are met everywhere, since their sum is the
// product of decodes and mean context. (Interpolating over the sum itself would
// halve the context of a step halfway to one without decodes.)
//
// Beyond the outermost values the line through the two nearest ones goes on,
// and where there is one value only the time is constant: a table measured at a
// single context knows nothing of contexts. No step is shorter than the
// shortest measured one. Contexts of prefill chunks are not among the
// coordinates: measure prefills as they will run.
type Table struct {
	levels []level // by prefill tokens, each with decodes, each with contexts
	least  float64 // us
}

// level is one measured value of a coordinate.
type level struct {
	at    float64
	below []level // of the next coordinate, ascending; nil at the last
	us    float64 // at the last
}

// NewTable returns a table of points.
func NewTable(points []Point) (*Table, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("a table of steps has no points, expected at least one")
	}
	t := &Table{least: points[0].Us}
	coordinates := make([][4]float64, len(points))
	for i, p := range points {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("point %d of the table of steps: %w", i+1, err)
		}
		t.least = min(t.least, p.Us)
		coordinates[i] = [4]float64{float64(p.Prefill), float64(p.Decodes), meanContext(p.Context, p.Decodes), p.Us}
	}
	slices.SortFunc(coordinates, func(a, b [4]float64) int { return slices.Compare(a[:], b[:]) })
	t.levels = levels(coordinates, 0)
	return t, nil
}

func meanContext(sum, decodes int64) float64 {
	if decodes == 0 {
		return 0
	}
	return float64(sum) / float64(decodes)
}

// levels groups sorted points by their k-th coordinate and those after it.
func levels(points [][4]float64, k int) (out []level) {
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n][k] == points[0][k] {
			n++
		}
		l := level{at: points[0][k]}
		if k < 2 {
			l.below = levels(points[:n], k+1)
		} else {
			var sum float64
			for _, p := range points[:n] {
				sum += p[3]
			}
			l.us = sum / float64(n)
		}
		out = append(out, l)
		points = points[n:]
	}
	return out
}

// StepNs returns the interpolated time in whole nanoseconds.
func (t *Table) StepNs(b engine.Batch) int64 {
	at := [3]float64{float64(b.Prefill), float64(b.Decodes()), meanContext(b.DecodeContext, b.Decodes())}
	return stepNs(max(t.least, interpolate(t.levels, at[:])), false)
}

func interpolate(levels []level, at []float64) float64 {
	i, found := slices.BinarySearchFunc(levels, at[0], func(l level, x float64) int { return cmp.Compare(l.at, x) })
	if found || len(levels) == 1 {
		return levels[min(i, len(levels)-1)].time(at)
	}
	i = min(max(i, 1), len(levels)-1)
	low, high := &levels[i-1], &levels[i]
	from, to := low.time(at), high.time(at)
	return from + float64((to-from)*((at[0]-low.at)/(high.at-low.at)))
}

func (l *level) time(at []float64) float64 {
	if l.below == nil {
		return l.us
	}
	return interpolate(l.below, at[1:])
}
