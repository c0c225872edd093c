package router

import (
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// Whatever becomes of requests, rejected at once, timed out without a token,
// lost with their replica, routed again, finished, nothing is left of them in
// the books of what is in flight once all have left.
func TestBooksAreEmptyInTheEnd(t *testing.T) {
	for _, p := range Policies() {
		s := rng.New(6, 1, "leaks")
		w := branching(t, 500, s)
		d, ok := newBench(p, w, 4)
		if !ok {
			continue
		}
		v := &d.view
		first := make([]bool, w.Len())
		var inside, kept []int32
		leave := func(k int) {
			id := inside[k]
			inside = slices.Delete(inside, k, k+1)
			d.leave(id)
		}
		send := func(id int32) {
			to := d.router.Route(id, v)
			if to == Hold {
				kept = append(kept, id)
				return
			}
			first[id] = false
			d.send(id, to)
			inside = append(inside, id)
		}
		down := func(replica int32, retry bool) {
			v.Up = slices.DeleteFunc(all(4), func(i int32) bool { return i == replica })
			if f, ok := d.router.(Follower); ok {
				f.Down(int(replica), v)
			}
			var again []int32
			for k := len(inside) - 1; k >= 0; k-- {
				if id := inside[k]; d.at[id] == replica {
					again = append(again, id)
					if !first[id] && v.Gauges != nil { // leave takes it off the running ones
						d.first(id)
					}
					leave(k)
				}
			}
			for _, id := range again {
				if retry {
					send(id)
				}
			}
		}
		up := func(replica int32) {
			v.Up = all(4)
			if f, ok := d.router.(Follower); ok {
				f.Came(int(replica), v)
			}
		}
		for id := range int32(w.Len()) {
			v.NowNs += int64(s.IntN(5e6))
			send(id)
			switch k := s.IntN(len(inside) + 1); {
			case s.IntN(40) == 0:
				r := int32(s.IntN(4))
				down(r, s.IntN(2) == 0)
				v.NowNs += int64(s.IntN(1e9))
				up(r)
			case k == len(inside): // rejected, or timed out: leaves without a token
			case !first[inside[k]]:
				first[inside[k]] = true
				d.first(inside[k])
			default:
				leave(k)
			}
		}
		for len(inside) > 0 {
			leave(len(inside) - 1)
		}
		for d.queuer != nil && len(kept) > 0 {
			id := d.queuer.Next(v)
			if id < 0 {
				t.Fatalf("%s keeps %d requests back for good", p.Name, len(kept))
			}
			kept = slices.DeleteFunc(kept, func(x int32) bool { return x == id })
			send(id)
			for len(inside) > 0 {
				leave(0)
			}
		}
		for name, sum := range inFlight(d.router) {
			if sum != 0 {
				t.Errorf("%s: %s is %d when nothing is in flight", p.Name, name, sum)
			}
		}
	}
}

// inFlight sums what a router has in its books of requests in flight.
func inFlight(r Router) map[string]int64 {
	total := func(x []int64) (sum int64) {
		for _, n := range x {
			if n < 0 {
				return n
			}
			sum += n
		}
		return sum
	}
	blocks := func(b *books) map[string]int64 {
		open := int64(0)
		for _, e := range b.active.head {
			if e != none {
				open++
			}
		}
		return map[string]int64{"prefill": total(b.prefill), "blocks": total(b.blocks), "active": open}
	}
	switch r := r.(type) {
	case *dynamo:
		return blocks(r.books)
	case *dynamoQueued:
		return blocks(r.books)
	case *dynamoTwoTier:
		return blocks(r.books)
	case *lmetric:
		return blocks(r.books)
	case *dualMap:
		return blocks(r.books)
	case *ramjet:
		return blocks(r.books)
	case *jsew:
		return blocks(r.books)
	case *mooncake:
		return map[string]int64{"queue": total(r.queueNs)}
	case *vllmRouterSMetric:
		return map[string]int64{"pending": total(r.pending)}
	case *trtConversation:
		return map[string]int64{"content": total(r.content)}
	case *preble:
		sum := int64(0)
		for _, n := range r.decoding {
			sum += int64(n)
		}
		return map[string]int64{"decoding": sum}
	case *code:
		refs := int64(0)
		for _, x := range r.tree.nodes {
			refs += int64(x.refs)
		}
		tokens := int64(0)
		for _, l := range r.window.load {
			tokens += l.tokens
		}
		return map[string]int64{"requests": refs, "tokens": tokens}
	}
	return nil
}

// A request that was lost after its first token, and waits in vain on the
// replica that it was sent to next, is cached on neither.
func TestRoutedAgainIsNotStarted(t *testing.T) {
	for _, name := range []string{"tensorrt-llm-kv-cache-aware", "llm-d"} {
		s := blockState(t, 2, []int64{1, 128, 32}, []int64{1, 128, 32})
		v := &s.view
		r := s.build(name, func(p Params) {
			if l, ok := p.(*LLMD); ok {
				l.Insert = "finish"
			}
		})
		failed := r.Route(0, v)
		r.(Observer).FirstToken(0, failed, v)
		v.Up = []int32{int32(1 - failed)}
		r.(Follower).Down(failed, v)
		r.(Observer).Left(0, failed, v)
		r.(Observer).Left(0, r.Route(0, v), v)
		r.(Follower).Came(failed, v)
		v.Up = all(2)
		v.Decision = new(Decision)
		r.Route(1, v)
		if c := v.Decision.Cached; c[0] != 0 || c[1] != 0 {
			t.Errorf("%s: %v tokens are believed to be cached, want none", name, c)
		}
	}
}
