package simulate

import "math"

// instants is the number of points at which the backlog is sampled; 64 keeps
// 2 % of the second half between two of them, and their cost out of sight.
const instants = 64

// backlog samples the requests in the system at evenly spaced instants of the
// second half of a window, from arrivals and departures in any order.
type backlog struct {
	from, step float64 // first instant, and the time between two, us
	scale      float64 // 1/step
	change     [instants + 1]int32
}

// reset prepares b for a window, which is empty where its ends are equal.
func (b *backlog) reset(startUs, endUs int64) {
	half := float64(endUs-startUs) / 2
	b.step = half / instants
	b.from = float64(startUs) + half + b.step/2
	b.scale = 0
	if half > 0 {
		b.scale = 1 / b.step
	}
	clear(b.change[:])
}

// add counts a request that arrives and departs at these times.
func (b *backlog) add(arriveUs, departUs int64) {
	b.change[b.after(arriveUs)]++
	b.change[b.after(departUs)]--
}

// after returns the first instant after t.
func (b *backlog) after(t int64) int {
	x := (float64(t)-b.from)*b.scale + 1
	return int(max(0, min(x, instants)))
}

// slope returns the least-squares slope of the backlog in requests a second
// and its standard error from the residuals; NaN for an empty window.
func (b *backlog) slope() (slope, se float64) {
	if b.scale == 0 {
		return math.NaN(), math.NaN()
	}
	var level [instants]float64
	var now int32
	var sum float64
	for j := range level {
		now += b.change[j]
		level[j] = float64(now)
		sum += level[j]
	}
	mean := sum / instants
	var sxx, sxy, syy float64
	for j, y := range level {
		x, y := float64(j)-(instants-1)/2.0, y-mean
		sxx += x * x // exact: halves of small integers
		sxy += float64(x * y)
		syy += float64(y * y)
	}
	perStep := sxy / sxx
	rss := max(0, syy-float64(perStep*sxy))
	perSecond := 1e6 / b.step
	return perStep * perSecond, math.Sqrt(rss/(instants-2)/sxx) * perSecond
}
