package router

import "switchyard/sim/workload"

// arrivalWindow counts, over the last so many requests, how many had each node
// in a set of their own. A request that has no node counts in the window alone.
type arrivalWindow struct {
	nodes []int32 // a ring, `each` entries a request, None where it has fewer
	each  int
	size  int // requests that the window holds when it is full
	at    int // the next request's place
	len   int // requests in the window
	count []int32
}

func newArrivalWindow(w *workload.Workload, size, each int) arrivalWindow {
	return arrivalWindow{nodes: make([]int32, size*each), each: each, size: size, count: make([]int32, w.Forest.Nodes())}
}

// add enters a request with its nodes, without repetition, in the place of the
// oldest one where the window is full. It calls gone with each node that no
// request in the window has any longer.
func (a *arrivalWindow) add(nodes []int32, gone func(node int32)) {
	place := a.nodes[a.at*a.each:][:a.each]
	if a.len == a.size {
		for _, n := range place {
			if n == workload.None {
				break
			}
			if a.count[n]--; a.count[n] == 0 && gone != nil {
				gone(n)
			}
		}
	} else {
		a.len++
	}
	for i := range place {
		place[i] = workload.None
	}
	copy(place, nodes)
	for _, n := range nodes {
		a.count[n]++
	}
	if a.at++; a.at == a.size {
		a.at = 0
	}
}
