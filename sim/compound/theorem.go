package compound

import (
	"errors"

	"switchyard/sim/rng"
)

// The worlds of this file meet or break the assumptions under which L rounds of
// LLMSelector reach the best allocation (Chen et al., 2025, theorem 4.1): for
// each question,
//
//	binary   the answer is right or wrong
//	within   which candidates do a module's part well does not depend on the
//	         other modules
//	between  a module that does its part better makes no answer worse
//	unique   one allocation is best

// Lawful returns a random world that meets all four, with every question's best
// allocation and the world's.
//
// Each question has one allocation that answers it, and a module does its part
// iff it has that allocation's candidate; the answer is right iff all do. More
// than the share agree of the questions have the world's best allocation, the
// others random ones. With agree of one half or more, the best candidate of
// each module is also the one that most questions want, so that a search which
// keeps one allocation for all questions finds it; below, only one that keeps
// an allocation a question must.
func Lawful(sizes []int, questions int, agree float64, s *rng.Stream) (*Table, []int32, error) {
	best := anyAllocation(sizes, s)
	same := min(questions, int(agree*float64(questions))+1)
	wants := make([][]int32, questions)
	for q := range wants {
		wants[q] = best
		if q >= same {
			wants[q] = anyAllocation(sizes, s)
		}
	}
	t, err := NewTable(sizes, questions, func(alloc []int32, q int, well []bool) bool {
		right := true
		for m, c := range alloc {
			well[m] = c == wants[q][m]
			right = right && well[m]
		}
		return right
	})
	return t, best, err
}

// Dominated returns a random world that meets the first three assumptions, in
// which one allocation does every part of every question well and is alone in
// that; many others may answer a question right, by rules that differ from
// question to question: an answer is right iff all modules of some clause of the
// question do their part. The first questions, one for each other candidate,
// need all modules and that candidate fails, so that no other is as good.
func Dominated(sizes []int, questions int, s *rng.Stream) (*Table, []int32, error) {
	best := anyAllocation(sizes, s)
	type question struct {
		well    [][]bool // by module and candidate
		clauses [][]bool // by clause and module
	}
	all := make([]bool, len(sizes))
	for m := range all {
		all[m] = true
	}
	random := func() (one question) {
		for m, size := range sizes {
			row := make([]bool, size)
			for c := range row {
				row[c] = s.IntN(2) == 0 || int32(c) == best[m]
			}
			one.well = append(one.well, row)
		}
		return one
	}
	var list []question
	for m, size := range sizes {
		for c := range size {
			if int32(c) == best[m] {
				continue
			}
			one := random()
			one.well[m][c], one.clauses = false, [][]bool{all}
			list = append(list, one)
		}
	}
	for len(list) < questions {
		one := random()
		for range 1 + s.IntN(3) {
			clause := make([]bool, len(sizes))
			clause[s.IntN(len(sizes))] = true
			for m := range clause {
				clause[m] = clause[m] || s.IntN(2) == 0
			}
			one.clauses = append(one.clauses, clause)
		}
		list = append(list, one)
	}
	t, err := NewTable(sizes, len(list), func(alloc []int32, q int, well []bool) bool {
		for m, c := range alloc {
			well[m] = list[q].well[m][c]
		}
		for _, clause := range list[q].clauses {
			if covered(clause, well) {
				return true
			}
		}
		return false
	})
	return t, best, err
}

// covered says whether all that a clause needs is well.
func covered(clause, well []bool) bool {
	for m, needed := range clause {
		if needed && !well[m] {
			return false
		}
	}
	return true
}

func anyAllocation(sizes []int, s *rng.Stream) []int32 {
	alloc := make([]int32, len(sizes))
	for m, size := range sizes {
		alloc[m] = int32(s.IntN(size))
	}
	return alloc
}

// Counterexample is a world in which a search for the best allocation goes
// wrong, for one reason.
type Counterexample struct {
	Breaks      string // binary, within, between, unique or joint
	Summary     string
	Table       *Table    // nil where scores are fractions
	Recorded    *Recorded // nil where they are not
	Start, Best []int32
	Stuck       []int32 // where a search that keeps one allocation for all questions ends
}

// Counterexamples returns a minimal world for each assumption that it alone
// breaks, and one (joint) that breaks none but has questions of different
// taste.
func Counterexamples() []Counterexample {
	return []Counterexample{withinBroken(), betweenBroken(), uniqueBroken(), jointBroken(), binaryBroken()}
}

// mustTable is NewTable for the worlds of this file, whose sizes are right.
func mustTable(sizes []int, questions int, does func([]int32, int, []bool) bool) *Table {
	t, err := NewTable(sizes, questions, does)
	if err != nil {
		panic("compound: " + err.Error())
	}
	return t
}

// withinBroken: which candidate locates well depends on the solver, and no
// solver does well after candidate 0.
func withinBroken() Counterexample {
	t := mustTable([]int{2, 2}, 1, func(a []int32, _ int, well []bool) bool {
		well[0] = a[0] == a[1]
		well[1] = a[0] == 1 && a[1] == 1
		return well[0] && well[1]
	})
	return Counterexample{Breaks: "within", Summary: "the first module does its part iff both have the same candidate",
		Table: t, Start: []int32{0, 0}, Best: []int32{1, 1}, Stuck: []int32{0, 0}}
}

// betweenBroken: two wrongs make a right.
func betweenBroken() Counterexample {
	t := mustTable([]int{2, 2}, 1, func(a []int32, _ int, well []bool) bool {
		well[0], well[1] = a[0] == 1, a[1] == 1
		return !well[0] && !well[1]
	})
	return Counterexample{Breaks: "between", Summary: "the answer is right iff both modules fail",
		Table: t, Start: []int32{1, 1}, Best: []int32{0, 0}, Stuck: []int32{1, 1}}
}

// jointBroken: each question has one best allocation, but the candidates that
// most questions want module by module make an allocation that few want.
func jointBroken() Counterexample {
	wants := [][]int32{{0, 0}, {0, 0}, {0, 1}, {0, 1}, {0, 1}, {1, 0}, {1, 0}}
	t := mustTable([]int{2, 2}, len(wants), func(a []int32, q int, well []bool) bool {
		well[0], well[1] = a[0] == wants[q][0], a[1] == wants[q][1]
		return well[0] && well[1]
	})
	return Counterexample{Breaks: "joint", Summary: "three of seven questions want (0, 1), two (0, 0) and two (1, 0): module by module that is (0, 0)",
		Table: t, Start: []int32{1, 1}, Best: []int32{0, 1}, Stuck: []int32{0, 0}}
}

// uniqueBroken: four of five questions have three best allocations each. From
// (0, 0) two of them want each module as it is, one wants it changed, and the
// other two do not mind as the other module carries them.
func uniqueBroken() Counterexample {
	t := mustTable([]int{2, 2}, 5, func(a []int32, q int, well []bool) bool {
		switch {
		case q < 2:
			well[0], well[1] = a[0] == 0, a[1] == 1
		case q < 4:
			well[0], well[1] = a[0] == 1, a[1] == 0
		default:
			well[0], well[1] = a[0] == 1, a[1] == 1
			return well[0] && well[1]
		}
		return well[0] || well[1]
	})
	return Counterexample{Breaks: "unique", Summary: "two questions are right with (0, .) or (., 1), two with (1, .) or (., 0), one with (1, 1)",
		Table: t, Start: []int32{0, 0}, Best: []int32{1, 1}, Stuck: []int32{0, 0}}
}

// binaryBroken: most questions are a little better with candidate 0, one much
// better with candidate 1.
func binaryBroken() Counterexample {
	o, err := NewOutcomes(Names{Modules: []string{"answer"}, Candidates: [][]string{{"0", "1"}}}, numbered("q", 3))
	for c, scores := range [][]float64{{.6, .6, 0}, {.5, .5, 1}} {
		for q, score := range scores {
			err = errors.Join(err, o.Add([]int32{int32(c)}, q, score, 0, 0))
		}
	}
	if err != nil {
		panic("compound: " + err.Error())
	}
	w, err := o.World([]int{0, 1, 2})
	if err != nil {
		panic("compound: " + err.Error())
	}
	return Counterexample{Breaks: "binary", Summary: "scores .6, .6, 0 of candidate 0 and .5, .5, 1 of candidate 1",
		Recorded: w, Start: []int32{0}, Best: []int32{1}, Stuck: []int32{0}}
}
