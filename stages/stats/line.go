package stats

import "math"

// Line is a straight line fitted by least squares.
type Line struct {
	N                int
	Slope, Intercept float64
	Range            // of the slope, for independent errors
}

// Fit returns the least-squares line y = intercept + slope x with the
// slope's t interval of n - 2 degrees of freedom. The interval assumes
// independent errors: over a simulated series, whose neighbours resemble each
// other, it is far too narrow; take the slopes of several replications and
// Interval instead. NaN where all x are equal; no interval under three points.
func Fit(x, y []float64, level float64) Line {
	if len(x) != len(y) {
		panic("stats: a line through slices of different lengths")
	}
	n := float64(len(x))
	mx, my := Mean(x), Mean(y)
	sxx, sxy := 0.0, 0.0
	for i := range x {
		dx := x[i] - mx
		sxx += float64(dx * dx)
		sxy += float64(dx * (y[i] - my))
	}
	line := Line{N: len(x), Slope: math.NaN(), Intercept: math.NaN(), Range: none}
	if !(sxx > 0) {
		return line
	}
	line.Slope = sxy / sxx
	line.Intercept = my - line.Slope*mx
	if len(x) < 3 {
		return line
	}
	sse := 0.0
	for i := range x {
		r := y[i] - my - line.Slope*(x[i]-mx)
		sse += float64(r * r)
	}
	half := TQuantile(0.5+level/2, n-2) * math.Sqrt(sse/(n-2)/sxx)
	line.Range = Range{line.Slope - half, line.Slope + half}
	return line
}
