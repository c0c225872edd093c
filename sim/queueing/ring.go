package queueing

// ring is a queue in an array that is used around and doubles when it is full.
type ring[T any] struct {
	slots      []T // a power of two of them
	head, tail uint
}

func (r *ring[T]) len() int  { return int(r.tail - r.head) }
func (r *ring[T]) first() *T { return &r.slots[r.head&uint(len(r.slots)-1)] }
func (r *ring[T]) drop()     { r.head++ }

func (r *ring[T]) push(x T) {
	if r.len() == len(r.slots) {
		r.grow()
	}
	r.slots[r.tail&uint(len(r.slots)-1)] = x
	r.tail++
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(4, 2*len(r.slots)))
	n := 0
	for ; r.len() > 0; n++ {
		bigger[n] = *r.first()
		r.drop()
	}
	r.slots, r.head, r.tail = bigger, 0, uint(n)
}
