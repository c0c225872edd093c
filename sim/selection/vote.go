package selection

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// ballot counts approvals: each question approves of all candidates that share
// its highest score
//
//	score = gamma*right + alpha*(1-blame) - fee(cost).
//
// The released code keeps candidates in a counter whose ties go to the one
// inserted first: the first question's best in the order of the list, then
// what later questions add. So a candidate's rank is the first question that
// approves of it, then its number.
type ballot struct {
	l            *ledger
	gamma, alpha float64
	sets         bitDiagnoser // nil where the diagnoser speaks in numbers
	levels       [][]int      // classes of (right, blamed) from the best score down
	votes, first []int32      // by candidate
	values       []float64
	slots        []int32
	blamed       []uint64  // by candidate and word
	blame        []float32 // by question
	numbers      []float64 // by candidate and question
	alloc        []int32
}

// The classes of a question for a candidate, in binary: blamed, right.
const (
	classRight  = 1
	classBlamed = 2
	classes     = 4
)

func newBallot(l *ledger, gamma, alpha float64) *ballot {
	b := &ballot{l: l, gamma: gamma, alpha: alpha, alloc: make([]int32, l.modules)}
	most := int(slices.Max(l.space.sizes))
	b.votes, b.first = make([]int32, most), make([]int32, most)
	b.slots, b.values = make([]int32, most), make([]float64, most)
	b.sets, _ = l.Diagnoser.(bitDiagnoser)
	if alpha == 0 {
		b.sets = blameless{}
	}
	if b.bitwise() {
		b.blamed = make([]uint64, most*l.words)
		b.levels = levelsOf(gamma, alpha)
	} else {
		b.blame = make([]float32, l.questions)
		b.numbers = make([]float64, most*l.questions)
	}
	return b
}

// bitwise says whether words of 64 questions can be counted at once.
func (b *ballot) bitwise() bool { return b.l.binary != nil && b.sets != nil && !b.l.priced() }

// levelsOf groups the classes by score, the best first.
func levelsOf(gamma, alpha float64) (levels [][]int) {
	score := func(class int) float64 {
		return gamma*float64(class&classRight) + float64(alpha*float64(1-class/classBlamed))
	}
	order := []int{0, 1, 2, 3}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score(j), score(i)) })
	for _, class := range order {
		if n := len(levels); n > 0 && score(levels[n-1][0]) == score(class) {
			levels[n-1] = append(levels[n-1], class)
		} else {
			levels = append(levels, []int{class})
		}
	}
	return levels
}

// hold nominates a module: all its candidates are evaluated with the others as
// they stand, and the questions vote.
func (b *ballot) hold(module int) error {
	l, k := b.l, int(b.l.space.sizes[module])
	b.votes, b.first = b.votes[:k], b.first[:k]
	b.slots, b.values = b.slots[:k], b.values[:k]
	copy(b.alloc, l.current)
	for i := range b.slots {
		b.alloc[module] = int32(i)
		slot, err := l.eval(b.alloc)
		if err != nil {
			return err
		}
		b.slots[i], b.values[i] = slot, l.value(slot)
		b.votes[i], b.first[i] = 0, math.MaxInt32
	}
	if b.alpha != 0 {
		l.out.DiagnoserCalls += int64(k) * int64(l.questions)
	}
	if b.bitwise() {
		return b.countSets(module)
	}
	return b.countNumbers(module)
}

func (b *ballot) countSets(module int) error {
	l := b.l
	for i := range b.slots {
		b.alloc[module] = int32(i)
		if err := b.sets.blameSet(b.alloc, module, b.blamed[i*l.words:(i+1)*l.words]); err != nil {
			return err
		}
	}
	for w, open := range l.every {
		for _, level := range b.levels {
			if open == 0 {
				break
			}
			var some uint64
			for i, slot := range b.slots {
				right := l.right[int(slot)*l.words+w]
				in := inClasses(level, right, b.blamed[i*l.words+w]) & open
				if in == 0 {
					continue
				}
				some |= in
				b.votes[i] += int32(bits.OnesCount64(in))
				b.first[i] = min(b.first[i], int32(64*w+bits.TrailingZeros64(in)))
			}
			open &^= some
		}
	}
	return nil
}

func inClasses(level []int, right, blamed uint64) (in uint64) {
	for _, class := range level {
		r, b := right, blamed
		if class&classRight == 0 {
			r = ^r
		}
		if class&classBlamed == 0 {
			b = ^b
		}
		in |= r & b
	}
	return in
}

func (b *ballot) countNumbers(module int) error {
	l, n := b.l, b.l.questions
	for i, slot := range b.slots {
		row := b.numbers[i*n : (i+1)*n]
		clear(b.blame)
		if b.alpha != 0 {
			b.alloc[module] = int32(i)
			if err := l.Diagnoser.Blame(b.alloc, module, b.blame); err != nil {
				return err
			}
		}
		if err := b.numbersOf(slot, row); err != nil {
			return err
		}
	}
	for q := range n {
		best := math.Inf(-1)
		for i := range b.slots {
			best = max(best, b.numbers[i*n+q])
		}
		for i := range b.slots {
			if b.numbers[i*n+q] == best {
				b.votes[i]++
				b.first[i] = min(b.first[i], int32(q))
			}
		}
	}
	return nil
}

// numbersOf scores an entry's questions with the verdicts in b.blame.
func (b *ballot) numbersOf(slot int32, row []float64) error {
	l := b.l
	if len(l.part) < l.questions {
		l.part = make([]float32, l.questions)
	}
	if err := l.scoresAt(slot, l.part); err != nil {
		return err
	}
	fee := l.fee(l.cost[slot])
	for q := range row {
		row[q] = float64(b.gamma*float64(l.part[q])) + float64(b.alpha*(1-float64(b.blame[q]))) - fee
	}
	return nil
}

// winner applies a rule of ties to the counts. The rules are inserted (as the
// released code), listed (lowest number) and incumbent (stay if it is among
// them, else inserted).
func (b *ballot) winner(ties string, incumbent int32) (winner int32, tied int) {
	most := slices.Max(b.votes)
	winner = -1
	for i, v := range b.votes {
		if v != most {
			continue
		}
		tied++
		if winner < 0 || ties != "listed" && b.first[i] < b.first[winner] {
			winner = int32(i)
		}
	}
	if ties == "incumbent" && b.votes[incumbent] == most {
		winner = incumbent
	}
	return winner, tied
}
