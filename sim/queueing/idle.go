package queueing

// idlers knows which servers are idle and, of the busy ones, which is done
// first.
type idlers struct {
	busy  tournament // when each busy server has done all that it was sent
	idle  bitset
	count int // of idle servers
}

func newIdlers(servers int) idlers {
	x := idlers{newTournament(servers), make(bitset, words(servers)), servers}
	for i := range servers {
		x.idle.add(i)
	}
	return x
}

// advance makes idle who has done all by time t.
func (x *idlers) advance(t int64) {
	for m := x.busy.min(); m.key <= t; m = x.busy.min() {
		x.idle.add(m.id)
		x.count++
		x.busy.set(m.id, never)
	}
}

// send makes server i busy until that time; wasIdle says what it was.
func (x *idlers) send(i int, until int64, wasIdle bool) {
	if wasIdle {
		x.idle.remove(i)
		x.count--
	}
	x.busy.set(i, until)
}
