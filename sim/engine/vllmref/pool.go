package vllmref

import "slices"

// pool is the KV cache of a replica. A block is a number from 0. It is free or
// has users, and either way may be registered under a content.
type pool struct {
	users   []int               // requests that use the block
	holds   []contentID         // the content registered, none if there is none
	free    []int               // blocks without users; the head is taken first
	holders map[contentID][]int // blocks registered, the first registered first
}

func newPool(blocks int) *pool {
	p := &pool{
		users:   make([]int, blocks),
		holds:   make([]contentID, blocks),
		holders: map[contentID][]int{},
	}
	for b := range blocks {
		p.free = append(p.free, b)
	}
	return p
}

// lookup returns the blocks that hold the contents, in order, up to the first
// content that none holds.
func (p *pool) lookup(contents []contentID) []int {
	var hits []int
	for _, c := range contents {
		if len(p.holders[c]) == 0 {
			break
		}
		hits = append(hits, p.holders[c][0])
	}
	return hits
}

// unused is how many of the blocks have no user.
func (p *pool) unused(blocks []int) int {
	n := 0
	for _, b := range blocks {
		if p.users[b] == 0 {
			n++
		}
	}
	return n
}

// use adds a user to each of the blocks, which leave the free list.
func (p *pool) use(blocks []int) {
	for _, b := range blocks {
		if p.users[b] == 0 {
			at := slices.Index(p.free, b)
			p.free = slices.Delete(p.free, at, at+1)
		}
		p.users[b]++
	}
}

// take gives the head of the free list a user; it loses its registration.
func (p *pool) take() int {
	b := p.free[0]
	p.free = p.free[1:]
	p.users[b] = 1
	if c := p.holds[b]; c != none {
		at := slices.Index(p.holders[c], b)
		p.holders[c] = slices.Delete(p.holders[c], at, at+1)
		p.holds[b] = none
	}
	return b
}

// register says that a block holds a content.
func (p *pool) register(b int, c contentID) {
	p.holds[b] = c
	p.holders[c] = append(p.holders[c], b)
}

// release takes a user from each of the blocks, the last first. Those without
// users are free then, at the tail, and stay registered.
func (p *pool) release(blocks []int) {
	for _, b := range slices.Backward(blocks) {
		p.users[b]--
		if p.users[b] == 0 {
			p.free = append(p.free, b)
		}
	}
}
