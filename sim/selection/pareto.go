package selection

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"switchyard/sim/rng"
)

// Pareto returns the places of the points that no other beats: none is as
// accurate for less, or more accurate for as much. They come by rising cost and
// accuracy; of equal points the first counts.
func Pareto(points []Point) (front []int) {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(points[i].Cost, points[j].Cost), cmp.Compare(points[j].Accuracy, points[i].Accuracy))
	})
	top := math.Inf(-1)
	for _, i := range order {
		if points[i].Accuracy > top {
			front, top = append(front, i), points[i].Accuracy
		}
	}
	return front
}

// Hull returns the places of the points that are best at some penalty: the
// corners of the concave hull of the front. A sweep over lambda finds these
// and no others.
func Hull(points []Point) (hull []int) {
	for _, i := range Pareto(points) {
		for len(hull) >= 2 && !bends(points[hull[len(hull)-2]], points[hull[len(hull)-1]], points[i]) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, i)
	}
	return hull
}

// bends says whether b lies above the line from a to c.
func bends(a, b, c Point) bool {
	return float64((b.Accuracy-a.Accuracy)*(c.Cost-a.Cost)) > float64((c.Accuracy-a.Accuracy)*(b.Cost-a.Cost))
}

// FrontPoint is a point of the accuracy-cost front with intervals of 95 %.
type FrontPoint struct {
	Point
	Place        int     // among the points
	Lo, Hi       float64 // Wilson's interval of accuracy
	Gain         float64 // accuracy above the next cheaper point of the front; NaN for the first
	GainLo       float64 // paired by question; NaN where the world has no scores
	GainHi       float64
	Price        float64 // dollars a question for a percentage point of that gain
	OnHull       bool    // best at some penalty
	OnFrontShare float64 // of resamples of the questions; NaN where the world has no scores
}

// Resampling says how Front asks whether points would be on the front of other
// questions.
type Resampling struct {
	Draws  int // resamples; 0 means 200
	Rivals int // points that take part, those least below the front; 0 means 200
	Stream *rng.Stream
}

// Front returns the front of a world's points, with intervals over its
// questions: Wilson's for each accuracy, a paired normal one for each step
// (questions are the pairs), and the share of bootstrap resamples of the
// questions in which the point is on the front of its rivals.
func Front(w World, points []Point, r Resampling) ([]FrontPoint, error) {
	c, err := NewCache(w)
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	places := Pareto(points)
	hull := Hull(points)
	front := make([]FrontPoint, len(places))
	for i, at := range places {
		f := FrontPoint{Point: points[at], Place: at, OnHull: slices.Contains(hull, at)}
		f.Lo, f.Hi = wilson(f.Accuracy, c.questions)
		f.Gain, f.GainLo, f.GainHi, f.Price, f.OnFrontShare = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
		if i > 0 {
			f.Gain, f.Price = f.Accuracy-front[i-1].Accuracy, PerPoint(front[i-1].Point, f.Point)
		}
		front[i] = f
	}
	if c.aggregate != nil {
		return front, nil
	}
	if err := c.paired(front); err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	if r.Stream != nil {
		if err := c.resample(front, points, r); err != nil {
			return nil, fmt.Errorf("front: %w", err)
		}
	}
	return front, nil
}

// paired writes the intervals of the steps.
func (c *Cache) paired(front []FrontPoint) error {
	here, before := make([]float32, c.questions), make([]float32, c.questions)
	for i := range front {
		here, before = before, here
		if err := c.Scores(front[i].Assignment, here); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		front[i].GainLo, front[i].GainHi = pairedInterval(here, before)
	}
	return nil
}

// pairedInterval is the normal interval of a mean difference.
func pairedInterval(x, y []float32) (lo, hi float64) {
	n := float64(len(x))
	var sum, squares float64
	for q := range x {
		d := float64(x[q]) - float64(y[q])
		sum += d
		squares += float64(d * d)
	}
	mean := sum / n
	half := z * math.Sqrt(max(0, squares/n-float64(mean*mean))/max(1, n-1))
	return mean - half, mean + half
}

// resample writes the shares of resamples.
func (c *Cache) resample(front []FrontPoint, points []Point, r Resampling) error {
	draws, rivals := r.Draws, r.Rivals
	if draws == 0 {
		draws = 200
	}
	if rivals == 0 {
		rivals = 200
	}
	places := nearest(points, rivals)
	rows := make([][]float32, len(places))
	again := make([]Point, len(places))
	for i, at := range places {
		rows[i], again[i] = make([]float32, c.questions), points[at]
		if err := c.Scores(points[at].Assignment, rows[i]); err != nil {
			return err
		}
	}
	hits := make([]int, len(points))
	weights := make([]float32, c.questions)
	for range draws {
		clear(weights)
		for range c.questions {
			weights[r.Stream.IntN(c.questions)]++
		}
		for i, row := range rows {
			var sum float64
			for q, s := range row {
				sum += float64(s * weights[q])
			}
			again[i].Accuracy = sum / float64(c.questions)
		}
		for _, i := range Pareto(again) {
			hits[places[i]]++
		}
	}
	for i := range front {
		front[i].OnFrontShare = float64(hits[front[i].Place]) / float64(draws)
	}
	return nil
}

// nearest returns, in ascending order, the places of the points that are least
// below the front: those on it first.
func nearest(points []Point, n int) []int {
	front := Pareto(points)
	below := make([]float64, len(points))
	for i, p := range points {
		for _, f := range front {
			if points[f].Cost <= p.Cost {
				below[i] = points[f].Accuracy - p.Accuracy
			}
		}
	}
	places := make([]int, len(points))
	for i := range places {
		places[i] = i
	}
	for _, f := range front { // before points that equal them
		below[f] = -1
	}
	slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(below[i], below[j]) })
	places = places[:min(n, len(places))]
	slices.Sort(places)
	return places
}
