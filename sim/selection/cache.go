package selection

import (
	"math/bits"
	"slices"

	"switchyard/sim/rng"
)

// denseLimit is the size of a space up to which a cache finds an allocation by
// indexing an array: 4 MB. Larger spaces are hashed.
const denseLimit = 1 << 20

// Cache keeps what a world answered, an entry an allocation, for all the runs
// on it. It is a World; the optimisers reach through it. One goroutine may use
// it at a time.
//
// An entry is found by the allocation's number in an array, or in a table with
// open addressing where the space is large. Nothing is allocated for an entry
// that is there, and growth is by doubling.
type Cache struct {
	world     World
	binary    Binary    // nil: scores
	aggregate Aggregate // nil: questions
	culprits  Culprits  // nil: unknown
	space     Space
	modules   int
	questions int
	words     int // of a set of questions
	every     []uint64

	dense []int32 // by number: slot+1
	table []int32 // by hash: slot+1
	mask  uint64

	allocs   []int32 // by slot and module
	accuracy []float64
	cost     []float64
	right    []uint64  // by slot and word, if binary
	scores   []float32 // by slot and question, if neither binary nor aggregate
	blames   []int32   // by slot and module: where in failed, +1
	failed   []uint64

	// What the current run has asked for.
	run   uint32
	stamp []uint32 // by slot
	asked []uint64 // by slot and word
}

// NewCache returns an empty cache of a world; of a cache, the cache itself.
func NewCache(w World) (*Cache, error) {
	if c, ok := w.(*Cache); ok {
		return c, nil
	}
	space, err := SpaceOf(w)
	if err != nil {
		return nil, err
	}
	c := &Cache{world: w, space: space, modules: w.Modules(), questions: w.Questions()}
	c.words = (c.questions + 63) / 64
	c.binary, _ = w.(Binary)
	c.aggregate, _ = w.(Aggregate)
	c.culprits, _ = w.(Culprits)
	c.every = make([]uint64, c.words)
	for q := range c.questions {
		c.every[q/64] |= 1 << (q % 64)
	}
	if space.AtMost(denseLimit) {
		c.dense = make([]int32, space.total)
	} else {
		c.resize(1 << 10)
	}
	return c, nil
}

// Modules implements World.
func (c *Cache) Modules() int { return c.modules }

// Candidates implements World.
func (c *Cache) Candidates(module int) int { return int(c.space.sizes[module]) }

// Questions implements World.
func (c *Cache) Questions() int { return c.questions }

// Scores implements World.
func (c *Cache) Scores(alloc []int32, dst []float32) error {
	slot, err := c.find(alloc)
	if err != nil {
		return err
	}
	return c.scoresAt(slot, dst)
}

// Cost implements World.
func (c *Cache) Cost(alloc []int32) (float64, error) {
	slot, err := c.find(alloc)
	if err != nil {
		return 0, err
	}
	return c.cost[slot], nil
}

// find returns the slot of an allocation, which the world answers at first.
func (c *Cache) find(alloc []int32) (int32, error) {
	cell := c.cell(alloc)
	if *cell != 0 {
		return *cell - 1, nil
	}
	slot := int32(len(c.accuracy))
	if err := c.answer(alloc); err != nil {
		return 0, err
	}
	*cell = slot + 1
	if c.dense == nil && 2*len(c.accuracy) > len(c.table) {
		c.resize(2 * len(c.table))
	}
	return slot, nil
}

// has says whether an allocation is there.
func (c *Cache) has(alloc []int32) (int32, bool) {
	cell := c.cell(alloc)
	return *cell - 1, *cell != 0
}

func (c *Cache) cell(alloc []int32) *int32 {
	if c.dense != nil {
		return &c.dense[c.space.Index(alloc)]
	}
	for i := rng.Mix(c.space.Index(alloc)) & c.mask; ; i = (i + 1) & c.mask {
		if slot := c.table[i] - 1; slot < 0 || slices.Equal(c.allocAt(slot), alloc) {
			return &c.table[i]
		}
	}
}

func (c *Cache) resize(n int) {
	c.table, c.mask = make([]int32, n), uint64(n-1)
	for slot := range int32(len(c.accuracy)) {
		*c.cell(c.allocAt(slot)) = slot + 1
	}
}

// answer appends an entry. What it appends before an error is cut off again.
func (c *Cache) answer(alloc []int32) error {
	slot := len(c.accuracy)
	accuracy, err := c.ask(alloc)
	var cost float64
	if err == nil {
		cost, err = c.world.Cost(alloc)
	}
	if err != nil {
		c.right = c.right[:min(len(c.right), slot*c.words)]
		c.scores = c.scores[:min(len(c.scores), slot*c.questions)]
		return err
	}
	c.allocs = append(c.allocs, alloc...)
	c.accuracy = append(c.accuracy, accuracy)
	c.cost = append(c.cost, cost)
	c.stamp = append(c.stamp, 0)
	c.asked = extend(c.asked, c.words)
	if c.culprits != nil {
		c.blames = extend(c.blames, c.modules)
	}
	return nil
}

// ask has the world answer and returns the accuracy.
func (c *Cache) ask(alloc []int32) (float64, error) {
	if c.aggregate != nil {
		return c.aggregate.Accuracy(alloc)
	}
	if c.binary != nil {
		n := len(c.right)
		c.right = extend(c.right, c.words)
		if err := c.binary.Right(alloc, c.right[n:]); err != nil {
			return 0, err
		}
		return float64(ones(c.right[n:])) / float64(c.questions), nil
	}
	n := len(c.scores)
	c.scores = extend(c.scores, c.questions)
	if err := c.world.Scores(alloc, c.scores[n:]); err != nil {
		return 0, err
	}
	var sum float64
	for _, s := range c.scores[n:] {
		sum += float64(s)
	}
	return sum / float64(c.questions), nil
}

func (c *Cache) allocAt(slot int32) []int32 {
	return c.allocs[int(slot)*c.modules : (int(slot)+1)*c.modules]
}

func (c *Cache) rightAt(slot int32) []uint64 {
	return c.right[int(slot)*c.words : (int(slot)+1)*c.words]
}

func (c *Cache) askedAt(slot int32) []uint64 {
	return c.asked[int(slot)*c.words : (int(slot)+1)*c.words]
}

// scoresAt writes the scores of an entry.
func (c *Cache) scoresAt(slot int32, dst []float32) error {
	switch {
	case c.aggregate != nil:
		return ErrNoScores
	case c.binary == nil:
		copy(dst, c.scores[int(slot)*c.questions:(int(slot)+1)*c.questions])
	default:
		right := c.rightAt(slot)
		for q := range dst[:c.questions] {
			dst[q] = float32(right[q/64] >> (q % 64) & 1)
		}
	}
	return nil
}

// culpritsAt returns where a module of an entry failed.
func (c *Cache) culpritsAt(slot int32, module int) ([]uint64, error) {
	at := &c.blames[int(slot)*c.modules+module]
	if *at == 0 {
		n := len(c.failed)
		c.failed = extend(c.failed, c.words)
		if err := c.culprits.Culprits(c.allocAt(slot), module, c.failed[n:]); err != nil {
			c.failed = c.failed[:n]
			return nil, err
		}
		*at = int32(n/max(1, c.words)) + 1
	}
	n := int(*at-1) * c.words
	return c.failed[n : n+c.words], nil
}

// extend appends n zeros.
func extend[T int32 | uint64 | float32](s []T, n int) []T {
	s = slices.Grow(s, n)[:len(s)+n]
	clear(s[len(s)-n:])
	return s
}

func ones(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}
