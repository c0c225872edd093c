package cascade

import (
	"cmp"
	"math"
	"slices"
)

// Point is a mean cost in dollars and a mean quality.
type Point struct{ Cost, Quality float64 }

// Points returns the points of results.
func Points(results []Result) []Point {
	points := make([]Point, len(results))
	for i, r := range results {
		points[i] = Point{r.Cost, r.Quality}
	}
	return points
}

// Hull returns the corners of the non-decreasing concave hull of the points,
// by rising cost and quality: what random mixes of the settings reach, where
// money may be left over. The line is level behind its last corner.
func Hull(points []Point) []Point { return appendHull(nil, slices.Clone(points)) }

// appendHull is Hull; it sorts points in place.
func appendHull(hull, points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(b.Quality, a.Quality))
	})
	for _, p := range points {
		if n := len(hull); n > 0 && p.Quality <= hull[n-1].Quality {
			continue
		}
		for n := len(hull); n > 1 && !right(hull[n-2], hull[n-1], p); n = len(hull) {
			hull = hull[:n-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// right reports whether b lies above the line from a to c.
func right(a, b, c Point) bool {
	return float64((b.Quality-a.Quality)*(c.Cost-a.Cost)) > float64((c.Quality-a.Quality)*(b.Cost-a.Cost))
}

// At returns the quality of a hull at a mean cost: on the line between its
// corners, level behind the last, and before the first on the line from the
// origin, where a router that answers a part of the questions only lies.
func At(hull []Point, cost float64) float64 {
	before := Point{}
	for _, p := range hull {
		if cost <= p.Cost {
			if p.Cost == before.Cost {
				return p.Quality
			}
			return before.Quality + float64((p.Quality-before.Quality)*((cost-before.Cost)/(p.Cost-before.Cost)))
		}
		before = p
	}
	return before.Quality
}

// AIQ is RouterBench's average improvement in quality (Hu et al., 2024;
// evaluation/AIQ.py): the area under the non-decreasing hull of the points between the costs
// lo and hi, over hi - lo. All routers that are compared need the same lo and
// hi. (Its released code integrates from a router's own first cost and divides
// by the largest cost: the same with lo = 0, but for what lies before that
// first cost.) It is NaN without points or where hi is not above lo.
func AIQ(results []Result, lo, hi float64) float64 { return area(Hull(Points(results)), lo, hi) }

// area is the mean height of a hull over [lo, hi]; the line is piecewise
// linear, so trapezoids between its corners are exact.
func area(hull []Point, lo, hi float64) float64 {
	if len(hull) == 0 || !(hi > lo) {
		return math.NaN()
	}
	sum, x, y := 0.0, lo, At(hull, lo)
	for _, p := range append(slices.Clone(hull), Point{Cost: hi}) {
		if p.Cost <= lo || x >= hi {
			continue
		}
		next := min(p.Cost, hi)
		height := At(hull, next)
		sum += (next - x) * (y + height) / 2
		x, y = next, height
	}
	return sum / (hi - lo)
}

// Recovered is RouteLLM's performance gap recovered (Ong et al., 2024):
// the share of the way from the weak to the strong model's quality. It is
// NaN where there is no way.
func Recovered(quality, weak, strong float64) float64 {
	if strong == weak {
		return math.NaN()
	}
	return (quality - weak) / (strong - weak)
}

// AverageRecovered is RouteLLM's APGR (Ong et al., 2024): the mean of Recovered
// over ten evenly spaced shares of calls to the strong model, here the middles of
// tenths, 5 % to 95 %, on the line between the results by their share of calls
// to it. A random mix has 0.5. Results must hold the shares 0 and 1, or the
// nearest ones stand for them.
func AverageRecovered(results []Result, strong int, weakQuality, strongQuality float64) float64 {
	points := make([]Point, len(results))
	for i, r := range results {
		points[i] = Point{r.Calls[strong], r.Quality}
	}
	slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(a.Cost, b.Cost) })
	sum := 0.0
	for i := range 10 {
		sum += Recovered(between(points, (float64(i)+0.5)/10), weakQuality, strongQuality)
	}
	return sum / 10
}

// between interpolates along points sorted by cost, level outside them.
func between(points []Point, x float64) float64 {
	if len(points) == 0 {
		return math.NaN()
	}
	at := slices.IndexFunc(points, func(p Point) bool { return p.Cost >= x })
	switch at {
	case -1:
		return points[len(points)-1].Quality
	case 0:
		return points[0].Quality
	}
	a, b := points[at-1], points[at]
	return a.Quality + float64((b.Quality-a.Quality)*((x-a.Cost)/(b.Cost-a.Cost)))
}
