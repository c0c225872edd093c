package engine

// vllmSlot is a request that was admitted at least once, from then until it
// finishes, and the one at the head of the queue. Slot 0 is the anchor of the
// running list.
type vllmSlot struct {
	id         int32
	prev, next int32 // in the running list, which is in order of admission
	seq        int64 // number of its admission
	target     int32 // tokens that its prefill computes: the prompt, and what it had generated when it was preempted
	done       int32 // of those, computed or hit
	chunk      int32 // of those, what the current step computes
	generated  int32 // output tokens at decode step base, or all where it does not decode
	decoding   bool
	base       int64 // the decode step before its first
	key        int64 // the decode step that makes its last token
	phase      int32 // decode steps at which it needs a block, modulo the block size
	peer, twin int32 // neighbours in the ring's list
	fellow     int32 // next in the list of those whose outputs are registered
	output     bool  // its output is the content of a node

	path  []int32 // nodes from the root, up to the output's
	at    int32   // in path: where its next block may be registered
	full  int32   // blocks of nodes that it holds
	holds []blockHold
}

// ringSize is the number of lists that decodes are spread over by the step in
// which they finish. A list also holds those that finish a multiple of it
// later; few outputs are so long.
const ringSize = 512

// vllmSlots are the slots of a replica, with the lists that they are in.
type vllmSlots struct {
	slots    []vllmSlot
	spare    []int32
	ring     [ringSize]int32 // decodes by finishing step
	needing  []int32         // by phase: decodes that need a block
	writing  []int32         // by phase: decodes that fill a block of their output's node, in order of admission
	decoding int64
	context  int64 // tokens of context of all decodes
	running  int
	passed   int64 // decode steps so far
	phase    int32 // passed modulo the block size
	size     int32 // block size
}

func (s *vllmSlots) reset(size int32) {
	if len(s.slots) == 0 {
		s.slots = append(s.slots, vllmSlot{})
	}
	s.spare = s.spare[:0]
	for i := len(s.slots) - 1; i > 0; i-- {
		s.spare = append(s.spare, int32(i))
	}
	s.slots[0] = vllmSlot{}
	clear(s.ring[:])
	s.needing, s.writing = cleared(s.needing, int(size)), cleared(s.writing, int(size))
	s.decoding, s.context, s.running, s.passed, s.phase, s.size = 0, 0, 0, 0, 0, size
}

// open returns an empty slot for a request.
func (s *vllmSlots) open(id int32) int32 {
	i := int32(len(s.slots))
	if n := len(s.spare); n > 0 {
		i = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		s.slots = append(s.slots, vllmSlot{})
	}
	q := &s.slots[i]
	*q = vllmSlot{id: id, path: q.path[:0], holds: q.holds[:0]}
	return i
}

// enlist puts a slot at the end of the running list.
func (s *vllmSlots) enlist(i int32) {
	last := s.slots[0].prev
	s.slots[i].prev, s.slots[i].next = last, 0
	s.slots[last].next, s.slots[0].prev = i, i
	s.running++
}

// delist takes a slot out of the running list.
func (s *vllmSlots) delist(i int32) {
	q := &s.slots[i]
	s.slots[q.prev].next, s.slots[q.next].prev = q.next, q.prev
	s.running--
}

// contextOf returns the tokens of context of a decode.
func (s *vllmSlots) contextOf(q *vllmSlot) int32 { return q.target + int32(s.passed-q.base) }

// start makes a slot a decode, whose prefill has emitted a token.
func (s *vllmSlots) start(i, outputs int32) {
	q := &s.slots[i]
	q.decoding, q.base, q.key = true, s.passed, s.passed+int64(outputs-q.generated)
	q.phase = int32((s.passed - int64(q.target)) % int64(s.size))
	if q.phase < 0 {
		q.phase += s.size
	}
	s.decoding++
	s.context += int64(q.target)
	s.list(i)
}

// stop ends a decode; its generated tokens are brought up to date.
func (s *vllmSlots) stop(i int32) {
	q := &s.slots[i]
	s.unlist(i)
	q.decoding = false
	q.generated += int32(s.passed - q.base)
	s.decoding--
	s.context -= int64(s.contextOf(q))
}

// list puts a decode into the lists by step and by phase.
func (s *vllmSlots) list(i int32) {
	q := &s.slots[i]
	head := &s.ring[q.key%ringSize]
	q.peer, q.twin = *head, 0
	if *head != 0 {
		s.slots[*head].twin = i
	}
	*head = i
	s.needing[q.phase]++
	if !q.output {
		return
	}
	at := &s.writing[s.writes(q.phase)]
	for *at != 0 && s.slots[*at].seq < q.seq {
		at = &s.slots[*at].fellow
	}
	q.fellow, *at = *at, i
}

// unlist takes a decode out of the lists by step and by phase.
func (s *vllmSlots) unlist(i int32) {
	q := &s.slots[i]
	if q.twin == 0 {
		s.ring[q.key%ringSize] = q.peer
	} else {
		s.slots[q.twin].peer = q.peer
	}
	if q.peer != 0 {
		s.slots[q.peer].twin = q.twin
	}
	s.needing[q.phase]--
	if !q.output {
		return
	}
	at := &s.writing[s.writes(q.phase)]
	for *at != i {
		at = &s.slots[*at].fellow
	}
	*at = q.fellow
}

// writes returns the phase in which a decode fills the block after which it
// needs another.
func (s *vllmSlots) writes(phase int32) int32 {
	if phase == 0 {
		return s.size - 1
	}
	return phase - 1
}

// finishes reports whether a decode makes its last token in a step.
func (s *vllmSlots) finishes(step int64) bool {
	for i := s.ring[step%ringSize]; i != 0; i = s.slots[i].peer {
		if s.slots[i].key == step {
			return true
		}
	}
	return false
}
