package router

import (
	"slices"
	"testing"

	"switchyard/sim/workload"
)

// Blocks of 16 tokens over a path of 100, 4 and 60: they end in the first node
// up to 96, in none of the second, and in the third up to 160.
func TestIndexOfBlocks(t *testing.T) {
	path := []workload.Segment{seg(1, 100), seg(2, 4), seg(3, 60)}
	v := newPrompts(t, 3, []prompt{{path[:1], 1, workload.None}, {path[:2], 1, workload.None}, {path, 1, workload.None}})
	var x Index
	match := make([]int32, 3)
	for _, c := range []struct {
		set  [3][]int32 // by replica: tokens of the three nodes
		want []int32    // of the whole path
	}{
		{[3][]int32{{96, 0, 56}, {96, 0, 0}, {0, 0, 56}}, []int32{160, 96, 0}},
		{[3][]int32{{96, 0, 8}, {80, 0, 56}, {0, 0, 0}}, []int32{112, 80, 0}},
		{[3][]int32{{0, 0, 0}, {0, 0, 0}, {16, 0, 0}}, []int32{0, 0, 16}},
		{[3][]int32{{0, 0, 56}, {0, 0, 56}, {0, 0, 56}}, []int32{0, 0, 0}},
	} {
		x.Reset(&v.Work.Forest, 3, 16)
		for r, tokens := range c.set {
			for i, n := range v.Work.Leaf {
				x.Set(r, n, tokens[i])
			}
		}
		if most := x.Match(v.Work.Leaf[2], match); !slices.Equal(match, c.want) || most != slices.Max(c.want) {
			t.Errorf("%v: matches %v, most %d, want %v", c.set, match, most, c.want)
		}
	}
}
