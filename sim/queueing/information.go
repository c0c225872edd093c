package queueing

import (
	"switchyard/sim/rng"
)

// InformationModel is a model of information by name: a value of
// Information.Model.
type InformationModel struct{ Name, Summary, Source string }

// InformationModels lists them.
func InformationModels() []InformationModel {
	const stale = "Mitzenmacher, 2000, How Useful Is Old Information?"
	return []InformationModel{
		{"live", "the state at this moment", "textbook"},
		{"periodic", "a board with the states of all servers, written at the multiples of T", stale},
		{"continuous", "each request sees the state of T ago", stale},
		{"continuous-exponential", "each request sees the state of an age ago that is drawn for it: exponential of mean T", stale},
		{"individual", "a board on which each server writes its own state, at exponential gaps of mean T", stale},
		{"own", "each dispatcher counts its own requests that have not ended, and hears of no others", "what routers without a shared state do"},
	}
}

// information is what the dispatchers see of a number that each server has: its
// requests, or the work left.
type information struct {
	model       string
	age         int64
	corrections bool
	servers     int
	work        bool // the number is work, which shrinks by itself

	next    int64 // refresh
	updates *rng.Stream
	ages    *rng.Stream

	board []int64 // what was last written
	own   []int64 // by dispatcher and server: requests in flight, or what was sent since the writing

	past  []history // by server: its requests, or the time when its work is done
	sent  []history // by dispatcher and server: all that was sent
	asOf  int64     // the time of the state that the request at hand sees
	loads []int64
}

// oldest bounds an exponential age of mean 1: -ln of the least uniform of 53
// bits.
const oldest = 37

func newInformation(c *Config, work bool, seed uint64, replication int) *information {
	f := &information{
		model: c.Information.Model, age: ticksOf(c.Information.Age), corrections: c.Information.Corrections,
		servers: c.System.Servers, work: work, next: never, loads: make([]int64, c.System.Servers),
	}
	if c.Information.Live() {
		f.model = "live"
	}
	pairs := c.System.Dispatchers * c.System.Servers
	switch f.model {
	case "own":
		f.own = make([]int64, pairs)
	case "periodic", "individual":
		f.board = make([]int64, f.servers)
		f.own = make([]int64, pairs)
		f.next = 0
		if f.model == "individual" {
			f.updates = rng.New(seed, replication, "dispatch/updates")
			f.next = f.gap()
		}
	case "continuous", "continuous-exponential":
		f.ages = rng.New(seed, replication, "dispatch/ages")
		f.past = newHistories(f.servers)
		if f.corrections {
			f.sent = newHistories(pairs)
		}
	}
	return f
}

func newHistories(n int) []history {
	hs := make([]history, n)
	for i := range hs {
		hs[i] = newHistory()
	}
	return hs
}

// gap draws the time to the next writing of any server: the servers' clocks,
// each exponential of mean T, are together one of mean T/N that belongs to each
// of them alike.
func (f *information) gap() int64 {
	return int64(f.updates.Exp()*float64(f.age)/float64(f.servers)) + 1
}

// skip passes over periodic writings of which nobody sees anything before t.
func (f *information) skip(t int64) {
	if f.model == "periodic" && t-f.next >= f.age {
		f.next = t - t%f.age
	}
}

// refresh writes to the board at time f.next.
func (f *information) refresh(e *engine) {
	at := f.next
	if f.model == "periodic" {
		for i := range f.board {
			f.board[i] = e.level(i, at)
		}
		clear(f.own)
		f.next += f.age
		return
	}
	i := f.updates.IntN(f.servers)
	f.board[i] = e.level(i, at)
	for j := i; j < len(f.own); j += f.servers {
		f.own[j] = 0
	}
	f.next += f.gap()
}

// arrived hears of a request that dispatcher from sends to server i at time t,
// where the server's number becomes level; the dispatcher may add amount.
func (f *information) arrived(i, from int, t, level, amount int64) {
	if f.own != nil {
		f.own[from*f.servers+i] += amount
	}
	if f.past != nil {
		f.past[i].add(arrivalAt(t), level)
	}
	if f.sent != nil {
		h := &f.sent[from*f.servers+i]
		h.add(arrivalAt(t), h.now()+amount)
	}
}

// departed hears of a departure.
func (f *information) departed(i, from int, t, level int64) {
	if f.model == "own" {
		f.own[from*f.servers+i]--
	}
	if f.past != nil && !f.work {
		f.past[i].add(departureAt(t), level)
	}
}

// arrives prepares for a request at time t.
func (f *information) arrives(t int64) {
	switch f.model {
	case "continuous":
		f.asOf = t - f.age
	case "continuous-exponential":
		f.asOf = t - int64(f.ages.Exp()*float64(f.age))
	}
}

// load returns what dispatcher from sees of server i.
func (f *information) load(e *engine, i, from int, t int64) int64 {
	pair := from*f.servers + i
	switch f.model {
	case "live":
		return e.level(i, t)
	case "own":
		return f.own[pair]
	case "periodic", "individual":
		if f.corrections {
			return f.board[i] + f.own[pair]
		}
		return f.board[i]
	}
	return f.old(i, pair, t)
}

// old returns what the state of another time, and the dispatcher's own memory,
// say of a server.
func (f *information) old(i, pair int, t int64) int64 {
	keep := f.asOf
	if f.model == "continuous-exponential" {
		keep = t - oldest*f.age
	}
	f.past[i].forget(keep)
	load := f.past[i].at(f.asOf)
	if f.work {
		load = max(0, load-f.asOf)
	}
	if f.corrections {
		h := &f.sent[pair]
		h.forget(keep)
		load += h.now() - h.at(f.asOf)
	}
	return load
}

// all returns load for every server, valid until its next call.
func (f *information) all(e *engine, from int, t int64) []int64 {
	if f.board != nil && !f.corrections {
		return f.board
	}
	for i := range f.loads {
		f.loads[i] = f.load(e, i, from, t)
	}
	return f.loads
}
