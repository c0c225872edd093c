package queueing

import "sort"

// history is a number that changes at known times, as it was at a past one.
type history struct {
	changes []change
	head    int // changes before it are forgotten
}

// change says what the number became. Its place in the order of time is twice
// the time, and one more for the effect of an arrival: the state at time s
// has in it the departures at s and not the arrivals at s.
type change struct{ place, value int64 }

func departureAt(t int64) int64 { return 2 * t }
func arrivalAt(t int64) int64   { return 2*t + 1 }

func newHistory() history { return history{changes: []change{{-1 << 63, 0}}} }

// add appends a change; places do not decrease.
func (h *history) add(place, value int64) {
	if h.head > 64 && h.head > len(h.changes)/2 {
		h.changes = h.changes[:copy(h.changes, h.changes[h.head:])]
		h.head = 0
	}
	h.changes = append(h.changes, change{place, value})
}

// forget drops what no time from s on needs.
func (h *history) forget(s int64) {
	for h.head+1 < len(h.changes) && h.changes[h.head+1].place <= 2*s {
		h.head++
	}
}

// at returns the number at time s.
func (h *history) at(s int64) int64 {
	kept := h.changes[h.head:]
	after := sort.Search(len(kept), func(i int) bool { return kept[i].place > 2*s })
	return kept[after-1].value
}

// now returns the number after the last change.
func (h *history) now() int64 { return h.changes[len(h.changes)-1].value }
