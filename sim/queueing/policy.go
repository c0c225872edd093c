package queueing

import (
	"reflect"

	"switchyard/sim/rng"
)

// Policy is one entry of the table of policies.
type Policy struct {
	Name, Summary string
	Needs         string // what it must know
	Freshness     string // how fresh that must be
	Breaks        string // where it breaks
	TieBreak      string
	Speeds        string // what it does with servers of unequal speed
	Source        string
	New           func() Params // parameters, without defaults set
}

// Policies lists the policies by name.
func Policies() []Policy {
	return []Policy{
		randomPolicy, roundRobinPolicy, weightedRoundRobinPolicy, jsqPolicy, jsqOfPolicy, jiqPolicy,
		lwlPolicy, expectedWorkPolicy, sitaPolicy, centralQueuePolicy,
	}
}

// FindPolicy returns the policy of that name.
func FindPolicy(name string) (Policy, bool) { return find(Policies(), name) }

// PolicyOf returns the entry to which parameters belong.
func PolicyOf(p Params) Policy {
	for _, e := range Policies() {
		if reflect.TypeOf(e.New()) == reflect.TypeOf(p) {
			return e
		}
	}
	panic("queueing: parameters of no policy")
}

func (p Policy) name() string { return p.Name }

// Params are the parameters of a policy: a pointer to one of the structs that
// Policies makes.
type Params interface {
	sees() sight
	build(env) chooser
}

// sight is what a policy reads of the servers.
type sight int

const (
	seesNothing  sight = iota // blind: the choice needs no state
	seesRequests              // requests at a server, the one in service included
	seesWork                  // time until a server has done all that it was sent
	seesExpected              // the same as predictions have it
	seesQueue                 // the one queue of all servers
)

// env is what a policy is built for.
type env struct {
	config  *Config
	servers int
	stream  *rng.Stream // the policy's own
	speed   func(i int) float64
	equal   bool // all speeds are 1
}

// chooser chooses a server for each request in order of arrival.
type chooser interface {
	pick(v *view) int
}

// blind is a chooser that needs no state and takes a block of requests at once.
type blind interface {
	choose(b *block)
}

// exact is a chooser that also serves a block of requests itself, where
// service is first come first served, information live and the dispatcher one:
// the same choices as pick makes, faster.
type exact interface {
	serve(f *farm, b *block)
}

// Ties is the parameter of policies that may find several servers equally
// good.
//
// random: each of them alike. first: the lowest index. rotating: the first at
// or behind the one that follows this dispatcher's last choice, around.
type Ties struct {
	Rule string `yaml:"ties" default:"random" enum:"random|first|rotating" doc:"which of equally good servers is taken: one at random, the first index, or the next in turn"`
}

// tieRule is Ties.Rule as a number, for inner loops.
type tieRule int

const (
	tieRandom tieRule = iota
	tieFirst
	tieRotating
)

// ties breaks ties.
type ties struct {
	rule    tieRule
	stream  *rng.Stream
	servers int
	next    []int // by dispatcher: where rotation goes on
}

func newTies(t Ties, e env) ties {
	rule := map[string]tieRule{"random": tieRandom, "first": tieFirst, "rotating": tieRotating}[t.Rule]
	return ties{rule, e.stream, e.servers, make([]int, e.config.System.Dispatchers)}
}

// among returns one of the servers in tied, which are in order of index and at
// least one.
func (x *ties) among(tied []int, from int) int {
	chosen := tied[0]
	switch x.rule {
	case tieRandom:
		chosen = tied[x.stream.IntN(len(tied))]
	case tieRotating:
		for _, i := range tied {
			if i >= x.next[from] {
				chosen = i
				break
			}
		}
		x.turn(chosen, from)
	}
	return chosen
}

// in returns one of the members of a set that has count of them, at least one:
// what among gives for the list of them and dispatcher 0.
func (x *ties) in(set bitset, count int) int {
	switch x.rule {
	case tieRandom:
		return set.member(x.stream.IntN(count))
	case tieRotating:
		chosen := set.from(x.next[0])
		x.turn(chosen, 0)
		return chosen
	}
	return set.from(0)
}

func (x *ties) turn(chosen, from int) {
	if x.next[from] = chosen + 1; x.next[from] == x.servers {
		x.next[from] = 0
	}
}

// least appends to tied, which is empty, the indices of the least keys.
func least(keys []int64, tied []int) []int {
	lowest := keys[0]
	for i, k := range keys {
		if k < lowest {
			lowest, tied = k, tied[:0]
		}
		if k == lowest {
			tied = append(tied, i)
		}
	}
	return tied
}
