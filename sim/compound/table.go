package compound

import (
	"errors"
	"fmt"
	"math/bits"
)

// Table is a small world written out: for every allocation and question whether
// the answer is right and whether each module did its part. It is how
// assumptions about systems are met, or broken, on purpose. It only reads, so
// that goroutines may share it.
type Table struct {
	space     space
	questions int
	right     [][]uint64   // by allocation
	failed    [][][]uint64 // by module and allocation
}

// largestTable is the number of outcomes that a table may hold.
const largestTable = 1 << 26

// NewTable writes a world out: sizes are the candidates of each module, and
// does sets, for an allocation and a question, which modules do their part, and
// returns whether the answer is right.
func NewTable(sizes []int, questions int, does func(alloc []int32, question int, well []bool) (right bool)) (*Table, error) {
	if len(sizes) == 0 || questions < 1 {
		return nil, errors.New("a table needs at least one module and one question")
	}
	outcomes := questions
	for m, size := range sizes {
		if size < 1 {
			return nil, fmt.Errorf("module %d has no candidate", m)
		}
		if outcomes *= size; outcomes > largestTable {
			return nil, fmt.Errorf("a table of more than %d outcomes: this is for small worlds", largestTable)
		}
	}
	t := &Table{space: space{sizes}, questions: questions, failed: make([][][]uint64, len(sizes))}
	alloc, well := make([]int32, len(sizes)), make([]bool, len(sizes))
	for range t.space.allocations() {
		right := make([]uint64, wordsOf(questions))
		failed := make([][]uint64, len(sizes))
		for m := range failed {
			failed[m] = make([]uint64, wordsOf(questions))
			t.failed[m] = append(t.failed[m], failed[m])
		}
		for q := range questions {
			clear(well)
			set(right, q, does(alloc, q, well))
			for m, did := range well {
				set(failed[m], q, !did)
			}
		}
		t.right = append(t.right, right)
		for m := len(alloc) - 1; m >= 0; m-- {
			if alloc[m]++; int(alloc[m]) < sizes[m] {
				break
			}
			alloc[m] = 0
		}
	}
	return t, nil
}

// Modules returns the number of decisions.
func (t *Table) Modules() int { return len(t.space.sizes) }

// Candidates returns how many candidates a module has.
func (t *Table) Candidates(module int) int { return t.space.sizes[module] }

// Questions returns the number of questions.
func (t *Table) Questions() int { return t.questions }

// Allocations returns the number of allocations.
func (t *Table) Allocations() int64 { return t.space.allocations() }

// Right sets the bits of the questions answered right and clears the others.
func (t *Table) Right(alloc []int32, dst []uint64) error {
	n, err := t.space.number(alloc)
	if err != nil {
		return err
	}
	copy(dst, t.right[n])
	return nil
}

// Scores writes 1 for the questions answered right, else 0.
func (t *Table) Scores(alloc []int32, dst []float32) error {
	n, err := t.space.number(alloc)
	if err != nil {
		return err
	}
	for q := range dst {
		dst[q] = float32(t.right[n][q>>6] >> (q & 63) & 1)
	}
	return nil
}

// Counts writes how many questions each allocation answers right, in the order
// of World.
func (t *Table) Counts(dst []int32) error {
	if len(dst) != len(t.right) {
		return errors.New("the room for counts has the wrong length")
	}
	for n, right := range t.right {
		dst[n] = 0
		for _, word := range right {
			dst[n] += int32(bits.OnesCount64(word))
		}
	}
	return nil
}

// Failures sets the bits of the questions where a module does not do its part.
func (t *Table) Failures(alloc []int32, module int, dst []uint64) error {
	n, err := t.space.number(alloc)
	if err != nil {
		return err
	}
	copy(dst, t.failed[module][n])
	return nil
}

// Culprits sets the bits of the questions answered wrong where a module does
// not do its part.
func (t *Table) Culprits(alloc []int32, module int, dst []uint64) error {
	if err := t.Failures(alloc, module, dst); err != nil {
		return err
	}
	n, _ := t.space.number(alloc)
	for k, right := range t.right[n] {
		dst[k] &^= right
	}
	return nil
}

// Cost returns 0: a table has no prices.
func (t *Table) Cost(alloc []int32) (float64, error) {
	_, err := t.space.number(alloc)
	return 0, err
}
