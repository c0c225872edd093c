package choose

import (
	"slices"
	"strings"

	"switchyard/sim/rng"
	"switchyard/sim/selection"
)

// text writes an assignment: module=candidate, in the order of the graph.
func (p *pool) text(alloc []int32) string {
	var b strings.Builder
	for m, k := range alloc {
		if m > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.modules[m] + "=" + p.candidates[m][k])
	}
	return b.String()
}

// distinct is the number of different models in an assignment.
func (p *pool) distinct(alloc []int32) int32 {
	var seen []int32
	for m, k := range alloc {
		if model := p.models[m][k]; !slices.Contains(seen, model) {
			seen = append(seen, model)
		}
	}
	return int32(len(seen))
}

// starts are the assignments from which optimisers start.
func (p *pool) starts(u *Use, at sample) [][]int32 {
	if len(u.Start) > 0 {
		alloc := make([]int32, len(p.candidates))
		for m, name := range u.Start {
			alloc[m] = int32(slices.Index(p.candidates[m], name))
		}
		return [][]int32{alloc}
	}
	if u.Starts == 0 {
		return p.everywhere()
	}
	stream := rng.New(at.seed, at.replication, at.name("start"))
	all := make([][]int32, u.Starts)
	for i := range all {
		all[i] = make([]int32, len(p.candidates))
		for m := range all[i] {
			all[i][m] = int32(stream.IntN(len(p.candidates[m])))
		}
	}
	return all
}

// everywhere is every assignment, in the order of the space.
func (p *pool) everywhere() (all [][]int32) {
	alloc := make([]int32, len(p.candidates))
	space, err := selection.SpaceOf(p.train)
	for more := err == nil; more; more = space.Next(alloc) {
		all = append(all, slices.Clone(alloc))
	}
	return all
}
