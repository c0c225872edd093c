package router

import (
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// The offers that are taken are those that the code takes one after the other,
// the cheapest first, with equal prices and prices of nothing among them.
func TestPrebleCodeTakes(t *testing.T) {
	s := rng.New(5, 1, "offers")
	turned, balanced, all := 0, 0, 0
	for trial := range 3000 {
		n := s.IntN(80)
		c := &code{p: PrebleCode{RebalanceRatio: []float64{1, 1.5, 4}[s.IntN(3)]}}
		c.tree.nodes = make([]codeNode, n)
		prices := 1 + s.IntN(40)
		for k := range n {
			c.tree.nodes[k].seq = int64(k * 7919 % 1009)
			c.offers = append(c.offers, codeOffer{int64(s.IntN(prices)), int32(k)})
		}
		c.offersFunc = c.compareOffers
		heavy, light := &codeShare{0, int64(s.IntN(40 * (n + 1)))}, &codeShare{1, int64(s.IntN(10 * (n + 1)))}
		if heavy.ns < light.ns || c.balanced(heavy, light) {
			continue
		}
		want := slices.Clone(c.offers)
		slices.SortFunc(want, c.compareOffers)
		k, h, l := 0, heavy.ns, light.ns
		for ; k < n; k++ {
			if h-want[k].ns < l+want[k].ns {
				turned++
				break
			}
			h, l = h-want[k].ns, l+want[k].ns
			if c.balanced(&codeShare{ns: h}, &codeShare{ns: l}) {
				balanced++
				k++
				break
			}
		}
		if k == n {
			all++
		}
		got := c.offers[:c.taken(heavy, light)]
		slices.SortFunc(got, c.compareOffers)
		if !slices.Equal(got, want[:k]) {
			t.Fatalf("trial %d: of %d offers %v are taken, want %v", trial, n, got, want[:k])
		}
	}
	if turned < 20 || balanced < 20 || all < 20 {
		t.Errorf("%d trials turn the loads around, %d balance them, %d take all", turned, balanced, all)
	}
}
