package selection

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"switchyard/sim/rng"
)

// verdicts returns what a diagnoser says.
func verdicts(t *testing.T, d Diagnoser, alloc []int32, module int) []float32 {
	t.Helper()
	dst := make([]float32, 100)
	if err := d.Blame(alloc, module, dst); err != nil {
		t.Fatal(err)
	}
	return dst
}

// The verdict on a wrong answer is the truth with the accuracy; a right answer
// is never blamed.
func TestOracleAccuracy(t *testing.T) {
	w := fixture()
	for _, noise := range []string{"redrawn", "fixed"} {
		for _, p := range []float64{0, .53, .8, 1} {
			var wrong, truth float64
			for seed := range 10 {
				d := diagnoser(t, w, p, noise, uint64(seed))
				for _, a := range pairs(5) {
					for module := range 2 {
						for q, v := range verdicts(t, d, a, module) {
							if w.right(a, q) {
								if v != 0 {
									t.Fatalf("%s is blamed for the right answer %d", names(a), q)
								}
								continue
							}
							wrong++
							truth += oneIf((v == 1) != w.ok[module][a[module]][q])
						}
					}
				}
			}
			if se := math.Sqrt(p * (1 - p) / wrong); math.Abs(truth/wrong-p) > 4*se {
				t.Errorf("%s, accuracy %g: the truth in %.4f of %g wrong answers", noise, p, truth/wrong, wrong)
			}
		}
	}
}

// Fixed noise is a function of (stream, allocation, module, question) in
// whatever order it is asked for; redrawn noise differs from asking to asking.
func TestFixedNoise(t *testing.T) {
	w := fixture()
	d, again := diagnoser(t, w, .7, "fixed", 1), diagnoser(t, w, .7, "fixed", 1)
	first := verdicts(t, d, []int32{C, D}, 1)
	verdicts(t, again, []int32{A, A}, 0)
	if got := verdicts(t, again, []int32{C, D}, 1); !reflect.DeepEqual(got, first) {
		t.Error("fixed noise depends on what was asked before")
	}
	if other := verdicts(t, diagnoser(t, w, .7, "fixed", 2), []int32{C, D}, 1); reflect.DeepEqual(other, first) {
		t.Error("another stream gives the same noise")
	}
	// The two modules both fail on questions 55 to 99: their noise differs.
	if other := verdicts(t, d, []int32{C, D}, 0); reflect.DeepEqual(other[55:], first[55:]) {
		t.Error("two modules have the same noise")
	}
	r := diagnoser(t, w, .7, "redrawn", 1)
	if reflect.DeepEqual(verdicts(t, r, []int32{C, D}, 1), verdicts(t, r, []int32{C, D}, 1)) {
		t.Error("redrawn noise came twice the same")
	}
}

func TestOracleRefuses(t *testing.T) {
	w := randomTable(rng.New(1, 0, "refuse"), 2, 2, 10, 4, false)
	if _, err := (&Oracle{Accuracy: 1}).Diagnoser(w, nil); err == nil || !strings.Contains(err.Error(), "which module failed") {
		t.Errorf("an oracle on a world without culprits: %v", err)
	}
	if _, err := (&Oracle{Accuracy: .5}).Diagnoser(fixture(), nil); err == nil || !strings.Contains(err.Error(), "stream") {
		t.Errorf("noise without a stream: %v", err)
	}
}
