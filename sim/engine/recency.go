package engine

// recency holds for each replica a list of nodes, the least recently used
// first, over one matrix [node][replica].
type recency struct {
	replicas   int
	links      []link
	head, tail []int32 // by replica: oldest and newest node, none without
}

type link struct{ prev, next int32 }

func (l *recency) reset(nodes, replicas int) {
	l.replicas = replicas
	l.links = cleared(l.links, nodes*replicas)
	l.head, l.tail = cleared(l.head, replicas), cleared(l.tail, replicas)
	for r := range replicas {
		l.head[r], l.tail[r] = none, none
	}
}

// empty empties the list of a replica.
func (l *recency) empty(r int) { l.head[r], l.tail[r] = none, none }

// push makes node n, which is not in the list, the newest.
func (l *recency) push(r int, n int32) {
	l.links[int(n)*l.replicas+r] = link{l.tail[r], none}
	if l.tail[r] == none {
		l.head[r] = n
	} else {
		l.links[int(l.tail[r])*l.replicas+r].next = n
	}
	l.tail[r] = n
}

// unlink takes node n out of the list.
func (l *recency) unlink(r int, n int32) {
	at := l.links[int(n)*l.replicas+r]
	if at.prev == none {
		l.head[r] = at.next
	} else {
		l.links[int(at.prev)*l.replicas+r].next = at.next
	}
	if at.next == none {
		l.tail[r] = at.prev
	} else {
		l.links[int(at.next)*l.replicas+r].prev = at.prev
	}
}
