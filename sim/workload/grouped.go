package workload

import (
	"math"
	"slices"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// grouped makes single requests that take their path from one of a set of
// groups and end in something private.
type grouped struct {
	paths   [][]Segment
	pick    func() int            // group of the next request
	private func(group int) int32 // tokens behind the path, at least 0
	output  func(group int) int32
	tags    []string
}

func (g *grouped) source() *Source {
	tokens := make([]int32, len(g.paths))
	for i, path := range g.paths {
		for _, s := range path {
			tokens[i] += s.Tokens
		}
	}
	turn := make([]Turn, 1)
	return &Source{Single: true, Next: func(s *Session) {
		i := g.pick()
		turn[0] = Turn{
			Segments: g.paths[i], OutputID: None,
			Prompt: max(1, tokens[i]+g.private(i)), Output: g.output(i),
		}
		*s = Session{Turns: turn, Tags: g.tags}
	}}
}

// numbers hands out segment ids, from 0.
type numbers struct{ next int64 }

func (n *numbers) segment(tokens int32) Segment {
	n.next++
	return Segment{ID: n.next - 1, Tokens: tokens}
}

// root returns the path that holds the system prompt, or the empty path where
// there is none.
func (n *numbers) root(tokens int32) []Segment {
	if tokens == 0 {
		return nil
	}
	return []Segment{n.segment(tokens)}
}

// under returns the path with another segment of that many tokens behind it;
// none for 0 tokens.
func (n *numbers) under(path []Segment, tokens int32) []Segment {
	path = slices.Clip(path)
	if tokens == 0 {
		return path
	}
	return append(path, n.segment(tokens))
}

// draws returns a function that draws token counts from one stream.
func draws(d dist.Drawer, s *rng.Stream, least int32) func(group int) int32 {
	return func(int) int32 { return dist.Tokens(d, s, least) }
}

// lengths is the distribution of a number of tokens by mean and deviation: a
// lognormal, or a constant where the deviation or the mean is 0.
func lengths(mean, sd float64) dist.Dist {
	if mean <= 0 || sd == 0 {
		return dist.Constant{Value: mean}
	}
	return dist.NewLognormal(mean, sd)
}

// byZipf picks groups independently, group k-1 in proportion to k^-a.
func byZipf(s *rng.Stream, groups int, a float64) func() int {
	z := dist.NewZipf(groups, a)
	return func() int { return z.Draw(s) }
}

// byDeck picks groups from a shuffled deck that holds group i sizes[i] times,
// and shuffles anew when it is used up: popularity is exact and does not
// change over time.
func byDeck(s *rng.Stream, sizes []int) func() int {
	var deck []int32
	for g, n := range sizes {
		for range n {
			deck = append(deck, int32(g))
		}
	}
	at := len(deck)
	return func() int {
		if at == len(deck) {
			at = 0
			shuffle(s, deck)
		}
		at++
		return int(deck[at-1])
	}
}

// shuffle is Fisher and Yates's.
func shuffle[T any](s *rng.Stream, xs []T) {
	for i := len(xs) - 1; i > 0; i-- {
		j := s.IntN(i + 1)
		xs[i], xs[j] = xs[j], xs[i]
	}
}

// apportion divides total over the weights, every part getting at least least
// (total permitting) and the rest in proportion, by largest remainders; ties
// go to the lower index.
func apportion(total int, weights []float64, least int) []int {
	n := len(weights)
	parts := make([]int, n)
	if least*n > total {
		least = 0
	}
	free := total - least*n
	var sum float64
	for _, w := range weights {
		sum += w
	}
	remainder := make([]float64, n)
	left := free
	for i, w := range weights {
		exact := float64(free) / float64(n)
		if sum > 0 {
			exact = float64(free) * (w / sum)
		}
		whole := math.Floor(exact)
		parts[i] = least + int(whole)
		remainder[i] = exact - whole
		left -= int(whole)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case remainder[a] > remainder[b]:
			return -1
		case remainder[a] < remainder[b]:
			return 1
		}
		return 0
	})
	for k := range max(0, left) {
		parts[order[k%n]]++
	}
	return parts
}

// crowd says how many requests share a group: the parameters that the
// workloads after Preble's table 1 have in common.
type crowd struct {
	sharers, sd float64 // requests that share a group, over shared groups
	alone       float64 // share of requests whose group no other request has
	groups      int     // shared groups; 0 for as many as give the mean
}

// sizes returns the number of requests of each group, shared ones first: the
// shared groups' sizes are drawn as lognormal and scaled so that all numbers
// add up to requests.
func (c crowd) sizes(s *rng.Stream, requests int) []int {
	alone := int(math.RoundToEven(float64(requests) * c.alone))
	together := requests - alone
	groups := c.groups
	if groups == 0 {
		groups = max(1, int(math.RoundToEven(float64(together)/c.sharers)))
	}
	d := lengths(c.sharers, c.sd)
	weights := make([]float64, groups)
	for i := range weights {
		weights[i] = math.Max(0, d.Draw(s)-2)
	}
	sizes := apportion(together, weights, 2)
	for range alone {
		sizes = append(sizes, 1)
	}
	return sizes
}
