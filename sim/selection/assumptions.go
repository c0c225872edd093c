package selection

import (
	"errors"
	"fmt"
	"math"

	"switchyard/sim/rng"
)

// Share is the share of cases that violate an assumption.
//
// Questions are the sample: the interval of 95 % takes the cases of one question
// as one cluster, and adds the variance between groups of contexts where they
// were drawn. Where no case violates, its upper end is Clopper and Pearson's
// for the number of questions. The share is NaN without cases. Ranking compares
// means of all questions, so that it has no interval unless contexts are drawn.
type Share struct {
	Assumption        string
	Cases, Violations float64
	Share, Lo, Hi     float64
}

// Assumptions are the shares that Assess returns, in its order. Let c be a
// context, the candidates of all modules but m; f(c,k) the allocation that adds
// candidate k of m; p = 1 where module m does not fail itself on question z, else
// 0; and P the score of the answer. LLMSelector's theorem (Chen et al.,
// arXiv:2502.14815, theorem 4.1) assumes, beside binary scores and a unique best
// allocation for each question, the following two for all m, k, k', c, c', z.
//
//	within    p(f(c,k)) >= p(f(c,k')) implies p(f(c',k)) >= p(f(c',k')): which
//	          candidate does a module's part better is the same in all contexts
//	between   p(f(c,k)) > p(f(c,k')) implies P(f(c,k)) >= P(f(c,k')): a module
//	          that does its part better makes no answer worse
//
// A case is a choice of m, k, k', z and c (and another c') in which the premise
// holds; it violates the assumption if the conclusion does not. Three more
// shares say how bad it is, and apply to worlds that know no module's failures:
//
//	reversed  as within, with > for both signs: the order turns around, where
//	          within also counts a tie in c that c' breaks
//	answers   as reversed, of the answers' scores P. If both assumptions hold and
//	          P depends on the modules' p alone, no case violates it: so one that
//	          does refutes them for worlds of which only scores are known
//	ranking   as reversed, of accuracies: for how many pairs of contexts two
//	          candidates of a module rank the other way round
const (
	Within   = "within"
	Between  = "between"
	Reversed = "reversed"
	Answers  = "answers"
	Ranking  = "ranking"
)

// Survey says how contexts are taken.
type Survey struct {
	// Limit is the number of allocations up to which all contexts are compared;
	// 0 means 20000. Beyond it contexts are drawn.
	Limit int
	// Draws is how many contexts a module are drawn, in groups of 50 within which
	// all pairs are compared; 0 means 1000, and at least two groups are drawn.
	Draws  int
	Stream *rng.Stream // needed when contexts are drawn
}

const groupSize = 50

// Assess measures the assumptions on a world. What the world cannot tell has
// no cases.
func Assess(w World, s Survey) ([]Share, error) {
	c, err := NewCache(w)
	if err != nil {
		return nil, fmt.Errorf("assumptions: %w", err)
	}
	if s.Limit == 0 {
		s.Limit = 20000
	}
	if s.Draws == 0 {
		s.Draws = 1000
	}
	a := &assessor{Cache: c, Survey: s, alloc: make([]int32, c.modules)}
	a.failures, _ = c.world.(Failures)
	groups := 1
	if !c.space.AtMost(uint64(s.Limit)) {
		if s.Stream == nil {
			return nil, errors.New("assumptions: the world has more allocations than the limit, so that contexts are drawn: give a stream of sim/rng, or a higher limit")
		}
		groups = max(2, (s.Draws+groupSize-1)/groupSize)
	}
	for range numberOfShares {
		a.shares = append(a.shares, tallied{
			byQuestion: ratio{make([]float64, c.questions), make([]float64, c.questions)},
			byGroup:    ratio{make([]float64, groups), make([]float64, groups)},
		})
	}
	for g := range groups {
		a.group = g
		for m := range c.modules {
			if err := a.module(m, groups > 1); err != nil {
				return nil, fmt.Errorf("assumptions: %w", err)
			}
		}
	}
	return a.results(groups), nil
}

// The places of the shares.
const (
	within = iota
	between
	reversed
	answers
	ranking
	numberOfShares
)

// tallied is the cases of one assumption, by question and by group.
type tallied struct{ byQuestion, byGroup ratio }

// order counts, over contexts, how often the first of two candidates was
// better and how often the second.
type order struct{ more, less float64 }

type assessor struct {
	*Cache
	Survey
	failures Failures
	shares   []tallied
	group    int
	alloc    []int32
	slots    []int32    // of the module's candidates in one context
	well     [][]uint64 // by candidate: questions where it does not fail
	rows     [][]float32
	parts    [][]order // by pair of candidates: by question, of p
	scores   [][]order // of P
	ranks    []order   // of accuracy
}

// module compares a module's candidates over all contexts, or over a group of
// contexts that are drawn.
func (a *assessor) module(m int, drawn bool) error {
	k := int(a.space.sizes[m])
	a.room(k)
	contexts := 0
	visit := func() error {
		contexts++
		return a.context(m, k)
	}
	if drawn {
		for range groupSize {
			for i, n := range a.space.sizes {
				a.alloc[i] = int32(a.Stream.IntN(int(n)))
			}
			if err := visit(); err != nil {
				return err
			}
		}
	} else {
		clear(a.alloc)
		for more := true; more; more = a.space.Next(a.alloc) {
			if a.alloc[m] == 0 {
				if err := visit(); err != nil {
					return err
				}
				a.alloc[m] = 0
			}
		}
	}
	a.settle(float64(contexts))
	return nil
}

// room prepares for a module of k candidates.
func (a *assessor) room(k int) {
	pairs := k * (k - 1) / 2
	a.slots = make([]int32, k)
	a.parts, a.scores, a.ranks = make([][]order, pairs), make([][]order, pairs), make([]order, pairs)
	a.well, a.rows = make([][]uint64, k), make([][]float32, k)
	for i := range k {
		a.well[i], a.rows[i] = make([]uint64, a.words), make([]float32, a.questions)
	}
	for i := range pairs {
		a.parts[i], a.scores[i] = make([]order, a.questions), make([]order, a.questions)
	}
}

// context compares a module's candidates in the context that stands in alloc.
func (a *assessor) context(m, k int) error {
	for i := range k {
		a.alloc[m] = int32(i)
		slot, err := a.find(a.alloc)
		if err != nil {
			return err
		}
		a.slots[i] = slot
		if a.aggregate == nil {
			if err := a.scoresAt(slot, a.rows[i]); err != nil {
				return err
			}
		}
		if a.failures != nil {
			if err := a.failures.Failures(a.alloc, m, a.well[i]); err != nil {
				return err
			}
			for w := range a.well[i] {
				a.well[i][w] = a.every[w] &^ a.well[i][w]
			}
		}
	}
	pair := 0
	for i := range k {
		for j := range i {
			a.compare(pair, i, j)
			pair++
		}
	}
	return nil
}

// compare notes which of candidates i and j is better, question by question.
func (a *assessor) compare(pair, i, j int) {
	a.ranks[pair].note(a.accuracy[a.slots[i]], a.accuracy[a.slots[j]])
	if a.aggregate != nil {
		return
	}
	for q := range a.questions {
		x, y := a.rows[i][q], a.rows[j][q]
		a.scores[pair][q].note(float64(x), float64(y))
		if a.failures == nil {
			continue
		}
		p, r := a.well[i][q/64]>>(q%64)&1, a.well[j][q/64]>>(q%64)&1
		a.parts[pair][q].note(float64(p), float64(r))
		if p != r {
			worse := p > r && x < y || p < r && x > y
			a.count(between, q, oneIf(worse), 1)
		}
	}
}

func (o *order) note(x, y float64) {
	o.more += oneIf(x > y)
	o.less += oneIf(x < y)
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// settle turns counts over contexts into cases: ordered pairs of different
// contexts, and both orders of the candidates.
func (a *assessor) settle(contexts float64) {
	for pair := range a.ranks {
		for q := range a.questions {
			if a.failures != nil {
				o := a.parts[pair][q]
				level := contexts - o.more - o.less
				a.count(within, q, (o.more+level)*o.less+(o.less+level)*o.more, (contexts+level)*(contexts-1))
				a.count(reversed, q, 2*o.more*o.less, (o.more+o.less)*(contexts-1))
			}
			if a.aggregate == nil {
				o := a.scores[pair][q]
				a.count(answers, q, 2*o.more*o.less, (o.more+o.less)*(contexts-1))
			}
		}
		o := a.ranks[pair]
		t := &a.shares[ranking].byGroup
		t.hits[a.group] += 2 * o.more * o.less
		t.cases[a.group] += (o.more + o.less) * (contexts - 1)
	}
}

func (a *assessor) count(share, question int, hits, cases float64) {
	t := &a.shares[share]
	t.byQuestion.hits[question] += hits
	t.byQuestion.cases[question] += cases
	t.byGroup.hits[a.group] += hits
	t.byGroup.cases[a.group] += cases
}

func (a *assessor) results(groups int) []Share {
	all := make([]Share, numberOfShares)
	for i, name := range []string{Within, Between, Reversed, Answers, Ranking} {
		t := &a.shares[i]
		s := Share{Assumption: name, Share: t.byGroup.share()}
		s.Violations, s.Cases = t.byGroup.sums()
		switch {
		case s.Cases == 0, i == ranking && groups == 1:
			s.Lo, s.Hi = math.NaN(), math.NaN()
		case s.Violations == 0 && i == ranking:
			s.Hi = none(groups)
		case s.Violations == 0:
			s.Hi = none(a.questions)
		default:
			variance := t.byGroup.variance()
			if i != ranking {
				variance += t.byQuestion.variance()
			}
			half := z * math.Sqrt(variance)
			s.Lo, s.Hi = max(0, s.Share-half), min(1, s.Share+half)
		}
		all[i] = s
	}
	return all
}
