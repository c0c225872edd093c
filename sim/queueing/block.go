package queueing

// blockSize is how many requests go through a run together: the draws, the
// dispatch and the measuring of a block are loops of their own, in each of
// which the processor has several requests under way, and the block's arrays
// stay in the first-level cache (six arrays of 3 KB).
const blockSize = 384

// block is a run of successive requests.
type block struct {
	n        int
	measured bool // behind the warm-up cut
	time     [blockSize]int64
	need     [blockSize]int64 // size in ticks of a server of speed 1
	guess    [blockSize]int64 // what the size was predicted to be
	from     [blockSize]int32 // dispatcher
	server   [blockSize]int32
	done     [blockSize]int64 // departure
}

// farm is what first come first served needs of its servers, and what the
// measuring of busy time needs of any that work whenever they can.
type farm struct {
	servers []server
	slow    []float64 // 1/speed, nil where all are 1
}

type server struct {
	free     int64 // when all that was sent has been done
	work     int64 // busy time of all that was sent
	requests int64
}

func newFarm(e env) *farm {
	f := &farm{servers: make([]server, e.servers)}
	if !e.equal {
		f.slow = make([]float64, e.servers)
		for i := range f.slow {
			f.slow[i] = 1 / e.speed(i)
		}
	}
	return f
}

// service returns how long server i works on a size, at least one tick.
func (f *farm) service(i int, need int64) int64 {
	if f.slow == nil {
		return need
	}
	return max(1, int64(float64(need)*f.slow[i]+0.5))
}

// serve sends a request of that size to server i at time t and returns when
// all that the server has been sent is done.
func (f *farm) serve(i int, t, need int64) int64 {
	s := &f.servers[i]
	d := need
	if f.slow != nil {
		d = f.service(i, need)
	}
	s.free = max(s.free, t) + d
	s.work += d
	s.requests++
	return s.free
}

// busy returns for how long server i has worked up to time t.
func (f *farm) busy(i int, t int64) int64 {
	return f.servers[i].work - max(0, f.servers[i].free-t)
}

// lindley serves a block whose servers are chosen.
func (f *farm) lindley(b *block) {
	for k := range b.n {
		b.done[k] = f.serve(int(b.server[k]), b.time[k], b.need[k])
	}
}
