package serving

import (
	"fmt"
	"math"
	"slices"
)

// Fits reports whether a budget holds a replica of each model, by the GPUs of a
// replica; models with 0 are not called.
func Fits(gpus []int, budget int) bool {
	for _, g := range gpus {
		budget -= g
	}
	return budget >= 0
}

// Splits lists the splits of a budget to which no replica can be added, up to
// so many; all says whether that is all of them. The first models' replicas
// vary slowest.
func Splits(gpus []int, budget, most int) (splits [][]int, all bool) {
	least := slices.DeleteFunc(slices.Clone(gpus), func(g int) bool { return g == 0 })
	if len(least) == 0 || !Fits(gpus, budget) {
		return nil, true
	}
	cheapest := slices.Min(least)
	split := make([]int, len(gpus))
	all = true
	var walk func(m, left int)
	walk = func(m, left int) {
		switch {
		case !all || !Fits(gpus[m:], left):
		case m == len(gpus):
			if left < cheapest {
				if all = len(splits) < most; all {
					splits = append(splits, slices.Clone(split))
				}
			}
		case gpus[m] == 0:
			walk(m+1, left)
		default:
			for n := 1; n*gpus[m] <= left && all; n++ {
				split[m] = n
				walk(m+1, left-n*gpus[m])
			}
			split[m] = 0
		}
	}
	walk(0, budget)
	return splits, all
}

// Search looks for the split with the lowest objective and returns it, of equals
// the one tried first; nil where the budget holds no replica of each. Where
// there are more than most, it begins with the split in proportion to the load
// and takes the best exchange of a replica for those of another model, for as
// long as that helps and no more than most are tried. Objectives are numbers or
// +Inf.
func Search(gpus []int, budget int, load []float64, most int, objective func(split []int) (float64, error)) (best []int, err error) {
	s := &search{gpus: gpus, budget: budget, most: most, objective: objective, seen: map[string]bool{}, least: math.Inf(1)}
	splits, all := Splits(gpus, budget, most)
	if all {
		for _, split := range splits {
			if err := s.try(split); err != nil {
				return nil, err
			}
		}
		return s.best, nil
	}
	if err := s.try(s.proportional(load)); err != nil {
		return nil, err
	}
	for {
		from := slices.Clone(s.best)
		for give := range gpus {
			for take := range gpus {
				if next := s.exchange(from, give, take); next != nil {
					if err := s.try(next); err != nil {
						return nil, err
					}
				}
			}
		}
		if slices.Equal(from, s.best) || len(s.seen) >= most {
			return s.best, nil
		}
	}
}

type search struct {
	gpus      []int
	budget    int
	most      int
	objective func(split []int) (float64, error)
	seen      map[string]bool
	best      []int
	least     float64
}

// try evaluates a split that has not been tried yet.
func (s *search) try(split []int) error {
	key := fmt.Sprint(split)
	if s.seen[key] || len(s.seen) >= s.most {
		return nil
	}
	s.seen[key] = true
	x, err := s.objective(split)
	if err != nil {
		return err
	}
	if s.best == nil || x < s.least {
		s.best, s.least = slices.Clone(split), x
	}
	return nil
}

// proportional gives each model a replica, and each further one to the model
// with the most load a replica and GPU that still fits.
func (s *search) proportional(load []float64) []int {
	split, left := make([]int, len(s.gpus)), s.budget
	for m, g := range s.gpus {
		if g > 0 {
			split[m] = 1
			left -= g
		}
	}
	s.fill(split, left, load)
	return split
}

// fill adds replicas until none fits. Without a load the cheapest are added.
func (s *search) fill(split []int, left int, load []float64) {
	for {
		next, worth := -1, math.Inf(-1)
		for m, g := range s.gpus {
			if g == 0 || g > left {
				continue
			}
			x := -float64(g)
			if load != nil {
				x = load[m] / float64(split[m])
			}
			if x > worth {
				next, worth = m, x
			}
		}
		if next < 0 {
			return
		}
		split[next]++
		left -= s.gpus[next]
	}
}

// exchange takes as many replicas of one model as another's one needs; nil where
// that cannot be.
func (s *search) exchange(from []int, give, take int) []int {
	if give == take || s.gpus[give] == 0 || s.gpus[take] == 0 {
		return nil
	}
	split, left := slices.Clone(from), s.budget
	for m, n := range split {
		left -= n * s.gpus[m]
	}
	for left < s.gpus[take] {
		if split[give] < 2 {
			return nil
		}
		split[give]--
		left += s.gpus[give]
	}
	split[take]++
	s.fill(split, left-s.gpus[take], nil)
	return split
}
