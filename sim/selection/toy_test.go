package selection

import (
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// chain is a world that is right where every module succeeds by itself.
type chain struct {
	ok        [][][]bool // by module, candidate, question
	price     []float64  // by candidate, a call
	questions int
	idle      int
}

func (c *chain) Modules() int                          { return len(c.ok) }
func (c *chain) Candidates(m int) int                  { return len(c.ok[m]) }
func (c *chain) Questions() int                        { return c.questions }
func (c *chain) Idle() int                             { return c.idle }
func (c *chain) right(alloc []int32, q int) bool       { return c.wrongs(alloc, q) == 0 }
func (c *chain) Scores(a []int32, dst []float32) error { return scoresOfBits(c, c.questions, a, dst) }

func (c *chain) wrongs(alloc []int32, q int) (n int) {
	for m, k := range alloc {
		if !c.ok[m][k][q] {
			n++
		}
	}
	return n
}

func (c *chain) Cost(alloc []int32) (cost float64, _ error) {
	for _, k := range alloc {
		if c.price != nil {
			cost += c.price[k]
		}
	}
	return cost, nil
}

func (c *chain) Right(alloc []int32, dst []uint64) error {
	clear(dst)
	for q := range c.questions {
		if c.right(alloc, q) {
			dst[q/64] |= 1 << (q % 64)
		}
	}
	return nil
}

func (c *chain) Culprits(alloc []int32, module int, dst []uint64) error {
	clear(dst)
	for q := range c.questions {
		if !c.ok[module][alloc[module]][q] {
			dst[q/64] |= 1 << (q % 64)
		}
	}
	return nil
}

func scoresOfBits(b Binary, n int, alloc []int32, dst []float32) error {
	set := make([]uint64, (n+63)/64)
	if err := b.Right(alloc, set); err != nil {
		return err
	}
	for q := range n {
		dst[q] = float32(set[q/64] >> (q % 64) & 1)
	}
	return nil
}

// spans returns the 100 questions that lie in the ranges [from, to].
func spans(ranges ...int) []bool {
	in := make([]bool, 100)
	for i := 0; i < len(ranges); i += 2 {
		for q := ranges[i]; q <= ranges[i+1]; q++ {
			in[q] = true
		}
	}
	return in
}

// The models of the fixture.
const (
	A = iota
	B
	C
	D
	E
)

// fixture is the case of five models in locate and solve.
func fixture() *chain {
	return &chain{questions: 100, price: []float64{5, 3, 1, .5, .2}, ok: [][][]bool{
		{spans(0, 39, 41, 99), spans(20, 34, 36, 49), spans(0, 44), spans(30, 54), spans(60, 79)},
		{spans(10, 39), spans(0, 34, 36, 99), spans(0, 44), spans(30, 54), spans(0, 9, 45, 99)},
	}}
}

// defaults sets an optimiser's parameters to their defaults, then to others.
func defaults[T any](t testing.TB, o *T, set ...any) *T {
	t.Helper()
	param.Defaults(o)
	for i := 0; i < len(set); i += 2 {
		if err := param.Set(o, set[i].(string), set[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := param.Validate(o); err != nil {
		t.Fatal(err)
	}
	return o
}

func diagnoser(t testing.TB, w World, accuracy float64, noise string, seed uint64) Diagnoser {
	t.Helper()
	d, err := (&Oracle{Accuracy: accuracy, Noise: noise}).Diagnoser(w, rng.New(seed, 0, "noise"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func run(t testing.TB, o Optimiser, p Problem) Outcome {
	t.Helper()
	out, err := o.Run(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// accuracyOf counts right answers without a cache.
func accuracyOf(t testing.TB, w World, alloc []int32) float64 {
	t.Helper()
	scores := make([]float32, w.Questions())
	if err := w.Scores(alloc, scores); err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, s := range scores {
		sum += float64(s)
	}
	return sum / float64(len(scores))
}

// pairs returns all allocations of two modules and k models.
func pairs(k int32) (all [][]int32) {
	for i := range k {
		for j := range k {
			all = append(all, []int32{i, j})
		}
	}
	return all
}

func names(alloc []int32) string {
	s := ""
	for _, k := range alloc {
		s += string(rune('A' + k))
	}
	return s
}

// failures returns the starts from which an optimiser misses the optimum.
func failures(t testing.TB, o Optimiser, w World, d Diagnoser, best float64) (failed []string) {
	t.Helper()
	c, err := NewCache(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range pairs(5) {
		if run(t, o, Problem{World: c, Diagnoser: d, Start: start}).Accuracy < best {
			failed = append(failed, names(start))
		}
	}
	slices.Sort(failed)
	return failed
}
