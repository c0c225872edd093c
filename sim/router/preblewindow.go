package router

import (
	"math/bits"

	"switchyard/sim/engine"
)

// prebleTimes are the times of steps that a scheduler of Preble goes by.
type prebleTimes struct {
	step     engine.StepModel
	marginal bool // of a decode: what it adds to the step of another like it

	tokens, ns int64 // the last prefill asked for
}

// prefill returns the time of a step that computes so many tokens without context.
func (t *prebleTimes) prefill(tokens int32) int64 {
	n := int64(tokens)
	if n <= 0 {
		return 0
	}
	if n != t.tokens {
		t.tokens = n
		t.ns = t.step.StepNs(engine.Batch{Tokens: n, Prefill: n, Requests: 1, Attention2: n * n})
	}
	return t.ns
}

// extend returns the time of a step that computes so many tokens after others.
func (t *prebleTimes) extend(tokens, before int32) int64 {
	n, done := int64(tokens), int64(before)
	return t.step.StepNs(engine.Batch{Tokens: n, Prefill: n, Requests: 1, Context: done, Attention2: n * (2*done + n)})
}

// decode returns what an output token after so many tokens is charged.
func (t *prebleTimes) decode(context int32) int64 {
	if t.marginal {
		return max(0, t.decodes(2, int64(context))-t.decodes(1, int64(context)))
	}
	return t.decodes(1, int64(context))
}

func (t *prebleTimes) decodes(n, context int64) int64 {
	c := n * context
	return t.step.StepNs(engine.Batch{Tokens: n, Requests: n, Context: c, DecodeContext: c, Attention2: 2*c + n})
}

// prebleWindow holds the requests that were sent within H, and what L needs of
// them by replica. All times are whole nanoseconds.
type prebleWindow struct {
	lengthNs int64
	past     history[preblePast]
	ends     history[prebleEnd]
	of       []prebleSums
	all      prebleSums // of outputs alone
}

// preblePast is a request that was sent.
type preblePast struct {
	atNs        int64
	id, replica int32
	prefill     int64 // time of what was missed
	decode      int64 // time of an output token
	life        int32 // of the replica
}

// prebleEnd is an output that has ended.
type prebleEnd struct {
	atNs                  int64
	replica, output, life int32
}

// prebleSums are over the requests of a replica within H.
type prebleSums struct {
	prefill, decode int64
	requests        int64
	output, ended   int64 // tokens and number of outputs that ended within H
	life            int32 // times that the replica has come back
}

func (w *prebleWindow) reset(replicas int, lengthNs int64) {
	*w = prebleWindow{lengthNs: lengthNs, of: make([]prebleSums, replicas)}
}

// load returns L of replica i.
func (w *prebleWindow) load(i int) int64 {
	s := &w.of[i]
	return s.prefill + w.decodes(i)
}

// decodes returns the part of L that outputs make: the mean output times what
// a token is charged, summed over requests.
func (w *prebleWindow) decodes(i int) int64 {
	s := &w.of[i]
	seen := s
	if s.ended == 0 {
		seen = &w.all
	}
	if seen.ended == 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(s.decode), uint64(seen.output))
	mean, _ := bits.Div64(high, low, uint64(seen.ended))
	return int64(mean)
}

// add notes a request that is sent.
func (w *prebleWindow) add(p preblePast) {
	s := &w.of[p.replica]
	p.life = s.life
	w.past.push(p)
	s.prefill += p.prefill
	s.decode += p.decode
	s.requests++
}

// ended notes an output of so many tokens.
func (w *prebleWindow) ended(nowNs int64, i int, output int32) {
	s := &w.of[i]
	w.ends.push(prebleEnd{nowNs, int32(i), output, s.life})
	for _, x := range [...]*prebleSums{s, &w.all} {
		x.output += int64(output)
		x.ended++
	}
}

// expire forgets the outputs that ended, and one request that was sent, H ago
// or longer. It returns that request and its replica; not ok when there is none.
func (w *prebleWindow) expire(nowNs int64) (id int32, i int, ok bool) {
	for w.ends.len() > 0 && w.ends.first().atNs <= nowNs-w.lengthNs {
		e := w.ends.pop()
		w.all.output -= int64(e.output)
		w.all.ended--
		if s := &w.of[e.replica]; s.life == e.life {
			s.output -= int64(e.output)
			s.ended--
		}
	}
	if w.past.len() == 0 || w.past.first().atNs > nowNs-w.lengthNs {
		return 0, 0, false
	}
	p := w.past.pop()
	if s := &w.of[p.replica]; s.life == p.life {
		s.prefill -= p.prefill
		s.decode -= p.decode
		s.requests--
	}
	return p.id, int(p.replica), true
}

// restart makes the sums of a replica those of one that has done nothing.
func (w *prebleWindow) restart(i int) { w.of[i] = prebleSums{life: w.of[i].life + 1} }

// history is a queue, the oldest first, that keeps its memory.
type history[T any] struct {
	items []T // a power of two of them
	from  int
	n     int
}

func (q *history[T]) len() int { return q.n }

// first returns the oldest item; there is one.
func (q *history[T]) first() *T { return q.at(0) }

// at returns the k-th oldest item.
func (q *history[T]) at(k int) *T { return &q.items[(q.from+k)&(len(q.items)-1)] }

func (q *history[T]) push(x T) {
	if q.n == len(q.items) {
		grown := make([]T, max(64, 2*q.n))
		for k := range q.n {
			grown[k] = *q.at(k)
		}
		q.items, q.from = grown, 0
	}
	q.n++
	*q.at(q.n - 1) = x
}

func (q *history[T]) pop() T {
	x := *q.first()
	q.from = (q.from + 1) & (len(q.items) - 1)
	q.n--
	return x
}
