package choose

import (
	"math"
	"slices"

	"switchyard/sim/selection"
)

// mostKnown is the size of a space up to which its optimum is looked up beside
// every run; worlds that count whole spaces at once allow more.
const (
	mostKnown   = 100_000
	mostCounted = 1 << 20
)

// survey is what is known of a pool without an optimiser.
type survey struct {
	space     selection.Space
	size      int64     // math.MaxInt64 where it does not fit
	single    *standing // nil where no model can serve all modules
	optimum   *standing // nil where the space is too large
	tied      int64     // assignments as good as the optimum
	trainRate []float64 // of every assignment, where the optimum is known
}

// standing is an assignment with its accuracies.
type standing struct {
	alloc       []int32
	train, test float64
}

// look surveys a pool.
func look(p *pool) (*survey, error) {
	space, err := selection.SpaceOf(p.train)
	if err != nil {
		return nil, err
	}
	s := &survey{space: space, size: math.MaxInt64}
	if n, ok := space.Size(); ok {
		s.size = int64(n)
	}
	train, test := newJudge(p.train), newJudge(p.last())
	if s.single, err = best(train, test, p.singles()); err != nil {
		return nil, err
	}
	limit := uint64(mostKnown)
	if _, ok := p.train.(selection.Counter); ok {
		limit = mostCounted
	}
	if p.paid || !space.AtMost(limit) {
		return s, nil
	}
	return s, s.findOptimum(train, test)
}

// last is the world that judges what was chosen.
func (p *pool) last() selection.World {
	if p.test != nil {
		return p.test
	}
	return p.train
}

// singles are the assignments with one model everywhere: the same name in each
// module.
func (p *pool) singles() (all [][]int32) {
	if u, ok := p.train.(selection.Singles); ok {
		return u.Singles()
	}
	for k, name := range p.candidates[0] {
		alloc := []int32{int32(k)}
		for _, others := range p.candidates[1:] {
			at := slices.Index(others, name)
			if at < 0 {
				break
			}
			alloc = append(alloc, int32(at))
		}
		if len(alloc) == len(p.candidates) {
			all = append(all, alloc)
		}
	}
	return all
}

// best returns the best of some assignments on the training questions, the
// first of equals; nil of none.
func best(train, test *judge, of [][]int32) (*standing, error) {
	var found *standing
	for _, alloc := range of {
		rate, err := train.accuracy(alloc)
		if err != nil {
			return nil, err
		}
		if found == nil || rate > found.train {
			found = &standing{alloc: alloc, train: rate}
		}
	}
	if found == nil {
		return nil, nil
	}
	var err error
	found.test, err = test.accuracy(found.alloc)
	return found, err
}

func (s *survey) findOptimum(train, test *judge) error {
	s.trainRate = make([]float64, s.size)
	if err := train.all(&s.space, s.trainRate); err != nil {
		return err
	}
	at := 0
	for i, rate := range s.trainRate {
		switch {
		case rate > s.trainRate[at]:
			at, s.tied = i, 1
		case rate == s.trainRate[at]:
			s.tied++
		}
	}
	s.optimum = &standing{alloc: make([]int32, train.world.Modules()), train: s.trainRate[at]}
	s.space.At(uint64(at), s.optimum.alloc)
	var err error
	s.optimum.test, err = test.accuracy(s.optimum.alloc)
	return err
}
