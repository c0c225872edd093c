package engine

import "slices"

func (v *plain) path(leaf int32) (nodes []int32) {
	for n := leaf; n != none; n = v.w.Forest.Parent[n] {
		nodes = append([]int32{n}, nodes...)
	}
	return nodes
}

func (v *plain) match(id int32) (tokens int32) {
	for _, n := range v.path(v.w.Leaf[id]) {
		tokens += v.cached[n]
		if v.cached[n] < v.w.Forest.Tokens[n] {
			break
		}
	}
	return tokens
}

// keep caches the segments of a prompt.
func (v *plain) keep(c *job2) {
	for _, n := range v.path(v.w.Leaf[c.id]) {
		v.cached[n] = v.w.Forest.Tokens[n]
	}
}

// pins is the node whose path a request keeps from eviction from now on.
func (v *plain) pins(id int32) int32 {
	n := v.w.Leaf[id]
	for v.p.Ready == "finish" && n != none && v.cached[n] == 0 {
		n = v.w.Forest.Parent[n]
	}
	return n
}

func (v *plain) pinned(n int32) bool {
	for _, c := range v.running {
		if slices.Contains(v.path(c.pinned), n) {
			return true
		}
	}
	return false
}

func (v *plain) cachedTokens() (sum int64) {
	for _, t := range v.cached {
		sum += int64(t)
	}
	return sum
}

func (v *plain) loose() (sum int64) {
	for n, t := range v.cached {
		if !v.pinned(n) {
			sum += int64(t)
		}
	}
	return sum
}

// held is what a running request holds beside cached tokens.
func (v *plain) held(c *job2) int64 {
	if !c.filled {
		return int64(v.w.Prompt[c.id] + c.before - c.match)
	}
	// The last token that it made has no place yet, unless a step for it runs.
	n := int64(v.w.Prompt[c.id]+c.made) - 1
	if v.p.Ready == "finish" {
		return n - int64(c.match)
	}
	if leaf := v.w.Leaf[c.id]; leaf != none {
		n -= int64(v.w.Forest.End[leaf])
	}
	return n
}

func (v *plain) memory() int64 {
	sum := v.cachedTokens()
	for _, c := range v.running {
		sum += v.held(c)
	}
	return sum
}

// evict frees tokens of the least recently used leaf, at least one.
func (v *plain) evict(most int64) {
	best := int32(none)
	for n := range v.cached {
		leaf := !v.pinned(n)
		for m := range v.cached {
			if v.w.Forest.Parent[m] == n {
				leaf = false
			}
		}
		if leaf && (best == none || v.used[n] < v.used[best]) {
			best = n
		}
	}
	v.host.store(best, v.cached[best])
	if v.p.Evict == "segment" || int64(v.cached[best]) <= most {
		delete(v.cached, best)
	} else {
		v.cached[best] -= int32(most)
	}
}

func (v *plain) release(leaf int32) {
	path := v.path(leaf)
	slices.Reverse(path)
	for _, n := range path {
		if v.cached[n] > 0 && !v.pinned(n) {
			v.serial++
			v.used[n] = v.serial
		}
	}
}

func (v *plain) leave(c *job2) {
	v.running = slices.DeleteFunc(v.running, func(o *job2) bool { return o == c })
	v.release(c.pinned)
}

func (v *plain) retract(c *job2) {
	v.leave(c)
	c.before, c.filled, c.seen = c.made, false, false
	v.serial++
	c.came = v.serial
	v.waiting = append(v.waiting, c)
	v.log.Preemptions[c.id]++
}
