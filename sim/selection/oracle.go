package selection

import (
	"fmt"
	"math"
	"math/bits"

	"switchyard/sim/rng"
)

// Oracle is a diagnoser that knows which module failed and says so with a given
// accuracy. It never blames a module for a right answer; on a wrong answer the
// verdict is the truth with probability Accuracy, and its opposite otherwise.
//
// For comparison: the best published method names the responsible agent of
// failed multi-agent runs in 53.5 % (Who&When, Zhang et al., 2025).
type Oracle struct {
	Accuracy float64 `yaml:"accuracy" default:"1" min:"0" max:"1" unit:"share" doc:"how often the verdict on a wrong answer is the truth"`
	Noise    string  `yaml:"noise" default:"redrawn" enum:"redrawn|fixed" doc:"redrawn at each asking, or fixed by allocation, module and question as at temperature 0 with a cache"`
}

// Diagnoser returns the oracle of a world, which must be binary and know its
// culprits; a *Cache of such a world will do, and shares what it has seen. The
// stream is the noise's own; one value of it serves fixed noise, so that equal
// streams give equal verdicts in whatever order they are asked for.
func (o *Oracle) Diagnoser(w World, noise *rng.Stream) (Diagnoser, error) {
	c, err := NewCache(w)
	if err != nil {
		return nil, err
	}
	if c.culprits == nil {
		return nil, fmt.Errorf("the world does not know which module failed: take a diagnoser that reads answers, or alpha 0")
	}
	if c.binary == nil {
		return nil, fmt.Errorf("an oracle needs answers that are right or wrong, and the world gives scores between: set a threshold, or alpha 0")
	}
	d := &oracle{Cache: c, set: make([]uint64, c.words)}
	if o.Accuracy < 1 {
		if noise == nil {
			return nil, fmt.Errorf("an oracle of accuracy %g draws at random: give it a stream of sim/rng", o.Accuracy)
		}
		d.fixed = o.Noise == "fixed"
		d.flip = uint64(math.Round((1 - o.Accuracy) * (1 << 53)))
		d.stream = noise
		if d.fixed {
			d.salt = noise.Uint64()
		}
	}
	return d, nil
}

// bitDiagnoser is a diagnoser whose verdicts are all yes or no.
type bitDiagnoser interface {
	blameSet(alloc []int32, module int, dst []uint64) error
}

// blameless stands for no diagnoser.
type blameless struct{}

func (blameless) blameSet(_ []int32, _ int, dst []uint64) error {
	clear(dst)
	return nil
}

type oracle struct {
	*Cache
	flip   uint64 // of 2^53
	fixed  bool
	salt   uint64
	stream *rng.Stream
	set    []uint64
}

// Blame implements Diagnoser.
func (o *oracle) Blame(alloc []int32, module int, dst []float32) error {
	if err := o.blameSet(alloc, module, o.set); err != nil {
		return err
	}
	for q := range dst[:o.questions] {
		dst[q] = float32(o.set[q/64] >> (q % 64) & 1)
	}
	return nil
}

func (o *oracle) blameSet(alloc []int32, module int, dst []uint64) error {
	slot, err := o.find(alloc)
	if err != nil {
		return err
	}
	truth, err := o.culpritsAt(slot, module)
	if err != nil {
		return err
	}
	copy(dst, truth)
	if o.flip == 0 {
		return nil
	}
	key := rng.Mix(o.salt ^ rng.Mix(o.space.Index(alloc)*uint64(o.modules)+uint64(module)))
	for w, right := range o.rightAt(slot) {
		for wrong := o.every[w] &^ right; wrong != 0; wrong &= wrong - 1 {
			bit := wrong & -wrong
			if o.draw(key+uint64(64*w)+uint64(bits.TrailingZeros64(wrong))) < o.flip {
				dst[w] ^= bit
			}
		}
	}
	return nil
}

// draw returns 53 uniform bits.
func (o *oracle) draw(key uint64) uint64 {
	if o.fixed {
		return rng.Mix(key) >> 11
	}
	return o.stream.Uint64() >> 11
}
