package serving

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// TestSplits: all splits to which nothing can be added, counted by hand and by
// trying every number of replicas.
func TestSplits(t *testing.T) {
	if got, all := Splits([]int{4, 1}, 8, 10); !all || len(got) != 1 || !slices.Equal(got[0], []int{1, 4}) {
		t.Errorf("4 and 1 GPUs of 8: %v", got)
	}
	if got, _ := Splits([]int{1, 0, 1, 1}, 8, 100); len(got) != 21 {
		t.Errorf("three models on 8 GPUs have %d splits, want 7 x 6 / 2", len(got))
	}
	if got, all := Splits([]int{1, 1, 1}, 8, 20); all || len(got) != 20 {
		t.Errorf("of 21 splits at most 20 are %d, all: %v", len(got), all)
	}
	if got, _ := Splits([]int{4, 4, 1}, 8, 10); got != nil {
		t.Errorf("9 GPUs fit into 8: %v", got)
	}
	s := rng.New(1, 1, "splits")
	for range 200 {
		gpus := []int{1 + s.IntN(4), s.IntN(3), 1 + s.IntN(3)}
		budget := s.IntN(14)
		got, all := Splits(gpus, budget, 1000)
		want := 0
		for a := 1; a <= budget; a++ {
			for b := min(1, gpus[1]); b <= budget*gpus[1]; b++ {
				for c := 1; c <= budget; c++ {
					left := budget - a*gpus[0] - b*gpus[1] - c*gpus[2]
					if left >= 0 && (left < gpus[0] && left < gpus[2] && (gpus[1] == 0 || left < gpus[1])) {
						want++
					}
				}
			}
		}
		if !all || len(got) != want {
			t.Fatalf("%v of %d GPUs: %d splits, want %d", gpus, budget, len(got), want)
		}
	}
}

// TestSearch: by exchanges it finds the optimum of a sum of load over replicas,
// which has no other peaks, as trying all does.
func TestSearch(t *testing.T) {
	s := rng.New(2, 1, "search")
	for range 100 {
		load := []float64{s.Float64(), s.Float64(), s.Float64(), s.Float64()}
		gpus := []int{1, 1, 1, 1}
		objective := func(split []int) (float64, error) {
			x := 0.0
			for m, n := range split {
				x += load[m] / float64(n)
			}
			return x, nil
		}
		some, err := Search(gpus, 16, load, 120, objective)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := Search(gpus, 16, load, 10_000, objective)
		x, _ := objective(some)
		y, _ := objective(all)
		if math.Abs(x-y) > 1e-12 {
			t.Fatalf("load %v: %v at %v, of all %v at %v", load, some, x, all, y)
		}
	}
	// A large replica is worth several small ones: exchanges fill what is left.
	split, err := Search([]int{4, 1, 1}, 14, []float64{9, 1, 1}, 5, func(split []int) (float64, error) {
		if split[0]*4+split[1]+split[2] != 14 {
			t.Errorf("%v leaves GPUs", split)
		}
		return math.Inf(1), nil
	})
	if err != nil || split == nil {
		t.Errorf("where nothing is served: %v, %v", split, err)
	}
	if split, err := Search([]int{8, 1}, 8, []float64{1, 1}, 5, nil); split != nil || err != nil {
		t.Errorf("what does not fit: %v, %v", split, err)
	}
}

func TestSum(t *testing.T) {
	got := Sum([]int64{9e9, 1e9, 2e9, -1, 4e9, 3e9}, 1, 3e9)
	if got.Questions != 5 || got.Failed != 1 || got.Mean != 2.5 || got.P50 != 2.5 || got.Within != .6 || math.Abs(got.P99-3.97) > 1e-12 {
		t.Errorf("times are %+v", got)
	}
	if none := Sum([]int64{-1}, 0, 0); none.Within != 0 || !math.IsNaN(none.P99) {
		t.Errorf("times of nothing are %+v", none)
	}
}
