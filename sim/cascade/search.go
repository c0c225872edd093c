package cascade

import (
	"math"
	"slices"
	"sort"
)

// maxStages bounds a cascade: tables of counts have a dimension a stage.
const maxStages = 4

// search is the brute force over orders and thresholds, each combination in
// constant time. With j_i the number of thresholds of stage i that a question's
// confidence reaches, less one, and k_i the threshold chosen, stage i is
// doubted where j_i < k_i, and
//
//	quality(k) = sum s_1 + sum over stages i of sum over {j_1 < k_1, ..., j_i < k_i} of (s_i+1 - s_i)
//	cost(k)    = sum c_1 + sum over stages i of sum over {j_1 < k_1, ..., j_i < k_i} of c_i+1
//
// so that one table a stage, of gains by (j_1, ..., j_i), summed up along
// every axis, yields all thresholds. Sums are of whole numbers, scores in units
// of 2^-32 and costs of 2^-32 of the greatest, so that equal combinations are
// equal to the last bit whatever the order of summation.
type search struct {
	n, models   int
	score, cost []int64     // [q*models+m]
	level       []uint8     // [q*models+m], j
	thresholds  [][]float32 // by model, rising
	unit        float64     // dollars a unit of cost
	budgets     []int64     // rising, of the sum over all questions
	dollars     []float64   // the same, as given
	best        []found     // by the first budget that allows it
	cheapest    int64       // sum of costs of the cheapest combination
	gain, spend [maxStages - 1][]int64
}

// found is a combination.
type found struct {
	quality, cost int64
	order         []int32 // nil where there is none
	k             [maxStages - 1]int
}

func (a *found) better(quality, cost int64) bool {
	return a.order == nil || quality > a.quality || quality == a.quality && cost < a.cost
}

func newSearch(t *Table, confidence []float32, list []int32, quantiles int, budgets []float64) *search {
	s := &search{n: t.Questions(), models: len(t.Models), thresholds: make([][]float32, len(t.Models)),
		score: make([]int64, len(t.Score)), cost: make([]int64, len(t.Score)), level: make([]uint8, len(t.Score)),
		dollars: budgets, best: make([]found, len(budgets)), cheapest: math.MaxInt64}
	s.unit = float64(slices.Max(t.Cost)) / (1 << 32)
	if s.unit == 0 {
		s.unit = 1
	}
	for i := range t.Score {
		s.score[i] = int64(math.Round(float64(t.Score[i]) * (1 << 32)))
		s.cost[i] = int64(math.Round(float64(t.Cost[i]) / s.unit))
	}
	for _, m := range list {
		s.cut(confidence, int(m), quantiles)
	}
	for _, b := range budgets {
		// A few units of rounding a question are allowed for.
		sum := math.Round(b*float64(s.n)/s.unit) + float64(s.n)
		s.budgets = append(s.budgets, int64(min(sum, 1<<62)))
	}
	return s
}

// cut takes a model's thresholds from the quantiles of its confidences, equal
// ones once, and finds the level of each question.
func (s *search) cut(confidence []float32, m, quantiles int) {
	sorted := make([]float32, s.n)
	for q := range sorted {
		sorted[q] = confidence[q*s.models+m]
	}
	slices.Sort(sorted)
	var list []float32
	for i := range quantiles {
		if x := sorted[i*s.n/quantiles]; len(list) == 0 || x > list[len(list)-1] {
			list = append(list, x)
		}
	}
	// Of few distinct confidences, such as a judge's 0 and 1, all are thresholds
	// even where the highest is rarer than one quantile's width.
	if top := sorted[s.n-1]; len(list) < quantiles && top > list[len(list)-1] {
		list = append(list, top)
	}
	s.thresholds[m] = list
	for q := range s.n {
		x := confidence[q*s.models+m]
		s.level[q*s.models+m] = uint8(sort.Search(len(list), func(i int) bool { return list[i] > x }) - 1)
	}
}

// try evaluates all thresholds of an order.
func (s *search) try(order []int32) {
	var c combination
	c.order = order
	for q := range s.n {
		i := q*s.models + int(order[0])
		c.quality[0] += s.score[i]
		c.cost[0] += s.cost[i]
	}
	for stage := range len(order) - 1 {
		s.fill(order[:stage+2])
	}
	s.walk(&c, 0, 0)
}

// fill makes the tables of the order's last stage but one.
func (s *search) fill(order []int32) {
	stage := len(order) - 2
	size := 1
	for _, m := range order[:stage+1] {
		size *= len(s.thresholds[m])
	}
	gain, spend := resize(s.gain[stage], size), resize(s.spend[stage], size)
	s.gain[stage], s.spend[stage] = gain, spend
	last, next := int(order[stage]), int(order[stage+1])
	for q := range s.n {
		row, at := q*s.models, 0
		for _, m := range order[:stage+1] {
			at = at*len(s.thresholds[m]) + int(s.level[row+int(m)])
		}
		gain[at] += s.score[row+next] - s.score[row+last]
		spend[at] += s.cost[row+next]
	}
	stride := size
	for _, m := range order[:stage+1] {
		length := len(s.thresholds[m])
		stride /= length
		for i := stride; i < size; i++ {
			if i/stride%length > 0 {
				gain[i] += gain[i-stride]
				spend[i] += spend[i-stride]
			}
		}
	}
}

func resize(list []int64, n int) []int64 {
	if cap(list) < n {
		return make([]int64, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// combination is what walk has chosen so far; sums are up to each stage.
type combination struct {
	order         []int32
	quality, cost [maxStages]int64
	k             [maxStages - 1]int
}

// walk tries all thresholds from a stage on; at is the entry of the tables of
// the stage before, of those with j < k there.
func (s *search) walk(c *combination, stage, at int) {
	if stage == len(c.order)-1 {
		s.keep(c, stage)
		return
	}
	length := len(s.thresholds[c.order[stage]])
	for k := range length {
		c.k[stage] = k
		if k == 0 { // every answer is trusted: later stages have no part
			from := c.k
			clear(c.k[stage:])
			s.keep(c, stage)
			c.k = from
			continue
		}
		i := at*length + k - 1
		c.quality[stage+1] = c.quality[stage] + s.gain[stage][i]
		c.cost[stage+1] = c.cost[stage] + s.spend[stage][i]
		s.walk(c, stage+1, i)
	}
}

// keep remembers the combination whose sums stand at a stage.
func (s *search) keep(c *combination, stage int) {
	quality, cost := c.quality[stage], c.cost[stage]
	s.cheapest = min(s.cheapest, cost)
	b, _ := slices.BinarySearch(s.budgets, cost)
	if b < len(s.best) && s.best[b].better(quality, cost) {
		s.best[b] = found{quality, cost, c.order, c.k}
	}
}

// plans returns the best of each budget, shortened to the stages that answer.
func (s *search) plans() []plan {
	var plans []plan
	var best found
	for b := range s.best {
		if x := s.best[b]; x.order != nil && best.better(x.quality, x.cost) {
			best = x
		}
		if best.order == nil {
			continue
		}
		p := plan{budget: s.dollars[b]}
		for i, m := range best.order {
			p.order = append(p.order, m)
			if i == len(best.order)-1 || best.k[i] == 0 {
				break
			}
			p.thresholds = append(p.thresholds, s.thresholds[m][best.k[i]])
		}
		plans = append(plans, p)
	}
	return plans
}

// least is the cheapest combination's mean cost in dollars.
func (s *search) least() float64 { return float64(s.cheapest) * s.unit / float64(s.n) }
