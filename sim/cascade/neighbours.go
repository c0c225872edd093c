package cascade

// neighbours predicts by the mean target of the k nearest training questions.
// The squared distance of two questions is the sum of the squared differences
// of their scaled features, plus 2 for every label in which they differ: that
// of labels as unit vectors. Of equal distances the earlier question counts.
type neighbours struct {
	train   *coded
	targets int
	y       []float64 // [q*targets+i]
	k       int
}

// heap holds the nearest so far, the farthest first.
type heap []near

type near struct {
	distance float64
	q        int32
}

// farther orders the heap.
func (a near) farther(b near) bool {
	return a.distance > b.distance || a.distance == b.distance && a.q > b.q
}

// predict fills to with the mean targets of the neighbours of a question of c.
func (nb *neighbours) predict(c *coded, q int, to []float64) {
	h := make(heap, 0, nb.k)
	x, label := c.x[q*c.width:(q+1)*c.width], c.label[q*c.groups:(q+1)*c.groups]
	for i := range nb.train.n {
		limit := -1.0
		if len(h) == nb.k {
			limit = h[0].distance
		}
		d := nb.distance(i, x, label, limit)
		if limit >= 0 && d >= limit { // later and no nearer
			continue
		}
		h = h.push(near{d, int32(i)}, nb.k)
	}
	clear(to)
	for _, n := range h {
		for j := range to {
			to[j] += nb.y[int(n.q)*nb.targets+j]
		}
	}
	for j := range to {
		to[j] /= float64(len(h))
	}
}

// distance may stop early where it reaches limit, unless that is negative.
func (nb *neighbours) distance(i int, x []float64, label []int32, limit float64) float64 {
	d := 0.0
	for g, l := range nb.train.label[i*nb.train.groups : (i+1)*nb.train.groups] {
		if l != label[g] {
			d += 2
		}
	}
	if limit >= 0 && d >= limit {
		return d
	}
	for f, v := range nb.train.x[i*nb.train.width : (i+1)*nb.train.width] {
		e := v - x[f]
		d += float64(e * e)
	}
	return d
}

// push adds to the heap, in place of the farthest where it holds k.
func (h heap) push(n near, k int) heap {
	if len(h) < k {
		h = append(h, n)
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if !h[i].farther(h[up]) {
				break
			}
			h[i], h[up] = h[up], h[i]
			i = up
		}
		return h
	}
	h[0] = n
	for i := 0; ; {
		down := 2*i + 1
		if down >= k {
			return h
		}
		if down+1 < k && h[down+1].farther(h[down]) {
			down++
		}
		if !h[down].farther(h[i]) {
			return h
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
