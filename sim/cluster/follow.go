package cluster

import (
	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// follow carries changes of caches to routers: as events to an index that all
// routers share, and as notices of evictions to those that ask for them.
type follow struct {
	front   *front
	cache   *engine.Cache
	index   bool // events are wanted
	notices bool
	events  router.Index
	random  uint64
	seq     uint64  // events so far
	told    int     // changes that the index knows
	noticed int     // changes of which notice was given
	bornNs  []int64 // by replica: when it lost its memory last, -1 for never
}

func (l *follow) reset(f *front, replicas int, index bool, random uint64) {
	l.front, l.index, l.notices, l.random = f, index, false, random
	l.seq, l.told, l.noticed = 0, 0, 0
	l.bornNs = resized(l.bornNs, replicas)
	for i := range l.bornNs {
		l.bornNs[i] = -1
	}
}

func (l *follow) start(cache *engine.Cache, w *workload.Workload, block int32) {
	l.cache = cache
	cache.Journal(l.index || l.notices)
	if l.index {
		l.events.Reset(&w.Forest, len(l.bornNs), block)
	}
}

// tell brings the routers' knowledge up to what reaches them by now.
func (l *follow) tell(now int64) {
	if !l.index && !l.notices {
		return
	}
	s := &l.front.sight
	changes := l.cache.Changes()
	if l.index {
		until := now - int64(s.EventDelayMs*1e6)
		for ; l.told < len(changes) && changes[l.told].TimeNs <= until; l.told++ {
			l.seq++
			c := &changes[l.told]
			if c.TimeNs > l.bornNs[c.Replica] && !l.lost(s.EventLoss) {
				l.events.Set(int(c.Replica), c.Node, c.Tokens)
			}
		}
	}
	if l.notices {
		until := now - int64(s.NoticeMs*1e6)
		for ; l.noticed < len(changes) && changes[l.noticed].TimeNs <= until; l.noticed++ {
			c := &changes[l.noticed]
			if c.Lost && c.TimeNs > l.bornNs[c.Replica] {
				l.notice(c, now)
			}
		}
	}
	l.trim(len(changes))
}

// notice tells all routers of an eviction.
func (l *follow) notice(c *engine.Change, now int64) {
	for _, in := range l.front.routers {
		if in.evictee != nil {
			in.view.NowNs = now
			in.evictee.Evicted(int(c.Replica), c.Node, c.Tokens, &in.view)
		}
	}
}

// lost reports whether the event that was counted last never arrives.
func (l *follow) lost(share float64) bool {
	return share > 0 && float64(rng.Mix(l.random+l.seq)>>11)*0x1p-53 < share
}

// trim forgets changes that all know, once they are many.
func (l *follow) trim(n int) {
	known := n
	if l.index {
		known = l.told
	}
	if l.notices {
		known = min(known, l.noticed)
	}
	if known < 4096 || known < n/2 {
		return
	}
	l.cache.ForgetChanges(known)
	if l.index {
		l.told -= known
	}
	if l.notices {
		l.noticed -= known
	}
}

// dropped says that a replica has lost its memory at now.
func (l *follow) dropped(replica int, now int64) {
	l.bornNs[replica] = now
	if l.index {
		l.events.Drop(replica)
	}
}
