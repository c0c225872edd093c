package router

import "switchyard/sim/workload"

var trtConversationPolicy = Policy{
	Name:      "tensorrt-llm-conversation",
	Summary:   "the replica of the session; without a session that of the conversation whose last prompt shares 3/4 of this one; else the one with the least content in flight",
	Formula:   "session -> its replica; longest match/blocks >= .75 -> that conversation's replica; else argmin content in flight",
	Needs:     "the prompt, the session where there is one, and its own dispatches in flight",
	Belief:    "none of caches: where each of the last 100000 conversations went",
	Staleness: "none with one router",
	Terms:     []string{"content in flight", "match share"},
	TieBreak:  "least content: round robin, a counter of misses modulo the replicas that tie; equal matches: the conversation that was used last, any in the system",
	Source:    trtSource + ", ConversationRouter",
	New:       func() Params { return new(TRTConversation) },
}

// TRTConversation keeps conversations where they are.
type TRTConversation struct {
	IDs        string  `yaml:"ids" default:"sessions" enum:"sessions|content" doc:"what tells conversations: the sessions of requests, and content for requests without; or content alone"`
	Threshold  float64 `yaml:"match_threshold" default:"0.75" min:"0" max:"1" unit:"share" doc:"of the prompt's blocks that a conversation must match"`
	BlockChars int32   `yaml:"block_chars" default:"128" min:"4" max:"16384" unit:"characters" doc:"of a block, of which four are a token"`
	Sessions   int     `yaml:"max_sessions" default:"100000" min:"1" max:"10000000" unit:"sessions" doc:"that are remembered, the least recently used is forgotten"`
}

// Check implements param's check of what bounds cannot say.
func (p *TRTConversation) Check() error { return wholeTokens("block_chars", p.BlockChars) }

// Build implements Params.
func (p *TRTConversation) Build(e Env) Router {
	r := &trtConversation{p: *p, content: make([]int64, e.Replicas), ties: turns{cost: make([]float64, e.Replicas)},
		shape:  newBlockIndex(e.Work, e.Replicas, blockRules{tokens: p.BlockChars / 4}),
		latest: make([]int32, e.Work.Forest.Nodes())}
	var sessions int
	r.of, sessions = sessionIndex(e.Work)
	if p.IDs == "content" {
		sessions = 0
		for i := range r.of {
			r.of[i] = none
		}
	}
	// Conversations without a session take numbers after the sessions'. There
	// are no more than requests, and one more while the last is forgotten.
	numbers := sessions + min(p.Sessions, e.Work.Len()) + 1
	r.table = newLRUTable(numbers, p.Sessions)
	r.owned = make([]int32, numbers)
	for k := numbers - 1; k >= sessions; k-- {
		r.unused = append(r.unused, int32(k))
	}
	r.sessions = int32(sessions)
	r.places = make([]place, 1)
	return r
}

type trtConversation struct {
	p        TRTConversation
	of       []int32   // by request: its session, none without
	sessions int32     // conversations from this number on have no session
	unused   []int32   // numbers of such
	table    *lruTable // conversation to replica
	content  []int64   // characters in flight, by replica
	ties     turns

	// Where the last prompts of conversations without a session lie in the forest.
	shape  *blockIndex // nothing is put in: it cuts prompts into blocks
	places []place     // entry 0 is unused
	free   int32       // unused ones, by more
	latest []int32     // by node: the place that was taken last, 0 without
	owned  []int32     // by conversation: its places, by more
}

// place is one node of a conversation's last prompt.
type place struct {
	node, conversation int32
	older, newer       int32 // of the same node
	more               int32 // of the same conversation
}

// Route implements Router.
func (r *trtConversation) Route(id int32, v *View) int {
	v.Believed = -1
	c, share := r.of[id], 0.
	if c == none {
		c, share = r.find(id)
	}
	chosen := none
	if c != none {
		chosen = int(r.table.value[c])
	}
	r.explain(v, chosen, share)
	if chosen == none {
		for _, i := range v.Up {
			r.ties.cost[i] = float64(r.content[i])
		}
		chosen = r.ties.least(v.Up)
		if c == none {
			c = r.number()
		}
	}
	if gone := r.table.put(c, int32(chosen)); gone != none {
		r.forget(gone)
	}
	if c >= r.sessions {
		r.settle(c, id)
	}
	r.content[chosen] += r.weight(id)
	return chosen
}

// find returns the conversation whose last prompt shares the most with this
// one, if that is enough.
func (r *trtConversation) find(id int32) (conversation int32, share float64) {
	w := r.shape.work
	for n := w.Leaf[id]; n != workload.None; n = w.Forest.Parent[n] {
		p := r.latest[n]
		if p == 0 {
			continue
		}
		share = float64(r.shape.until[n]) / float64(r.shape.blocks(id))
		if share >= r.p.Threshold {
			return r.places[p].conversation, share
		}
		return none, share
	}
	return none, 0
}

// number returns the number of a new conversation.
func (r *trtConversation) number() int32 {
	for len(r.unused) == 0 { // requests that are routed again have used them up
		gone := r.table.oldest()
		r.table.remove(gone)
		r.forget(gone)
	}
	c := r.unused[len(r.unused)-1]
	r.unused = r.unused[:len(r.unused)-1]
	return c
}

// settle lays a conversation's last prompt into the forest in the place of the
// one before.
func (r *trtConversation) settle(c, id int32) {
	r.clear(c)
	w := r.shape.work
	for n := w.Leaf[id]; n != workload.None; n = w.Forest.Parent[n] {
		if r.shape.begin(n) == r.shape.until[n] {
			continue
		}
		p := r.free
		if p == 0 {
			p = int32(len(r.places))
			r.places = append(r.places, place{})
		} else {
			r.free = r.places[p].more
		}
		r.places[p] = place{node: n, conversation: c, older: r.latest[n], more: r.owned[c]}
		r.places[r.latest[n]].newer = p
		r.latest[n], r.owned[c] = p, p
	}
}

// clear takes a conversation's prompt out of the forest.
func (r *trtConversation) clear(c int32) {
	for p := r.owned[c]; p != 0; {
		at := r.places[p]
		r.places[at.older].newer = at.newer
		if at.newer != 0 {
			r.places[at.newer].older = at.older
		} else {
			r.latest[at.node] = at.older
		}
		r.places[p].more = r.free
		r.free = p
		p = at.more
	}
	r.owned[c] = 0
}

// forget gives the number of a conversation that is in the table no more back.
func (r *trtConversation) forget(c int32) {
	if c >= r.sessions {
		r.clear(c)
		r.unused = append(r.unused, c)
	}
}

// weight returns the content of a request: its characters by five where the
// session is known, else those in its whole blocks.
func (r *trtConversation) weight(id int32) int64 {
	if r.of[id] != none {
		return max(1, 4*int64(r.shape.work.Prompt[id])/5)
	}
	return int64(r.shape.blocks(id)) * int64(r.p.BlockChars)
}

func (r *trtConversation) explain(v *View, chosen int, share float64) {
	rule := "sticky"
	if chosen == none {
		rule = "least content"
	}
	d := v.Decide(rule)
	if d == nil {
		return
	}
	for _, i := range v.Up {
		d.Terms[0][i], d.Terms[1][i] = float64(r.content[i]), share
		if chosen == none || int(i) == chosen {
			d.Score[i] = float64(r.content[i])
		}
	}
}

// FirstToken implements Observer.
func (r *trtConversation) FirstToken(int32, int, *View) {}

// Left implements Observer.
func (r *trtConversation) Left(id int32, replica int, _ *View) {
	r.content[replica] = max(0, r.content[replica]-r.weight(id))
}

// Down implements Follower. The conversations of a replica that goes are forgotten.
func (r *trtConversation) Down(replica int, _ *View) {
	for c, home := range r.table.value {
		if int(home) == replica {
			r.table.remove(int32(c))
			r.forget(int32(c))
		}
	}
	r.content[replica] = 0
}

// Came implements Follower.
func (r *trtConversation) Came(int, *View) {}
