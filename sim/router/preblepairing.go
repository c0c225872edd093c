package router

// prebleHits are the cached and all prompt tokens of requests by replica, over
// a window.
type prebleHits struct {
	lengthNs int64
	past     history[prebleHit]
	of       []prebleHitSums
}

type prebleHit struct {
	atNs           int64
	replica, life  int32
	cached, prompt int32
}

type prebleHitSums struct {
	cached, prompt int64
	life           int32 // times that the replica has come back
}

func (h *prebleHits) reset(replicas int, lengthNs int64) {
	*h = prebleHits{lengthNs: lengthNs, of: make([]prebleHitSums, replicas)}
}

func (h *prebleHits) add(nowNs int64, i int, cached, prompt int32) {
	s := &h.of[i]
	h.past.push(prebleHit{nowNs, int32(i), s.life, cached, prompt})
	s.cached += int64(cached)
	s.prompt += int64(prompt)
}

func (h *prebleHits) pass(nowNs int64) {
	for h.past.len() > 0 && h.past.first().atNs <= nowNs-h.lengthNs {
		x := h.past.pop()
		if s := &h.of[x.replica]; s.life == x.life {
			s.cached -= int64(x.cached)
			s.prompt -= int64(x.prompt)
		}
	}
}

func (h *prebleHits) restart(i int) { h.of[i] = prebleHitSums{life: h.of[i].life + 1} }

// ratio returns the share of cached prompt tokens; 0 without any.
func (h *prebleHits) ratio(i int) float64 { return share(h.of[i].cached, h.of[i].prompt) }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// paired returns the replica that takes the requests that explore because it
// decodes most, and whether one decodes enough; of equals the first.
func (b *preble) paired(v *View) (best int, ok bool) {
	if b.p.Pairing == "none" {
		return 0, false
	}
	most := -1.0
	for _, i := range v.Up {
		if x := b.decodeShare(int(i), v); x > most {
			best, most = int(i), x
		}
	}
	return best, most > 0 && most >= b.p.PairingRatio
}

// decodeShare is what stands for the paper's decode ratio.
func (b *preble) decodeShare(i int, v *View) float64 {
	switch b.p.Pairing {
	case "hit-ratio", "sent-hit-ratio":
		return b.hits.ratio(i)
	case "decode-time":
		return share(b.window.decodes(i), b.window.load(i))
	}
	return share(int64(b.decoding[i]), int64(v.Requests[i]))
}
