package workload

import (
	"cmp"
	"errors"
	"slices"
)

// nominalTokenUs is the pace at which a turn is taken to produce output where
// requests have to be put in order before any of them has run: 25 ms a token,
// what one Mistral-7B request sees on an idle A6000. Only the order of
// requests that wait for others, and the times of open sessions, rest on it.
const nominalTokenUs = 25_000

// planned is one turn with its place in the order.
type planned struct {
	Turn
	session  int32
	turn     int32
	nominal  int64 // when it would arrive at the nominal pace
	previous int32 // position, before sorting, of the turn that it waits for; None for a first turn
	thinkUs  int64
	tags     []string
	open     bool
}

// eachTurn emits the turns of sessions, each behind the turn it waits for and
// otherwise in the order of nominal times. Arrivals start sessions; a rate
// counts requests, so sessions start at the rate over the mean number of turns.
func eachTurn(e *Env, source *Source, arrivals Process, emit func(*Request) error) error {
	turns, first := pull(e, source)
	sessions := len(first)
	starts, err := arrivals.Starts(e, sessions, float64(len(turns))/float64(sessions))
	if err != nil {
		return err
	}
	if err := schedule(turns, first, starts); err != nil {
		return err
	}
	order := make([]int32, len(turns))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(turns[a].nominal, turns[b].nominal), cmp.Compare(a, b))
	})
	index := make([]int32, len(turns))
	for i, at := range order {
		index[at] = int32(i)
	}
	for _, at := range order {
		p := &turns[at]
		r := Request{
			ArrivalUs: p.nominal, After: None, Session: int64(p.session), Turn: p.turn, Tags: p.tags,
			Prompt: p.Prompt, Output: p.Output, Segments: p.Segments, OutputID: p.OutputID,
		}
		if p.previous != None {
			r.ArrivalUs, r.After, r.ThinkUs = None, index[p.previous], p.thinkUs
		}
		if err := emit(&r); err != nil {
			return err
		}
	}
	return nil
}

// pull copies sessions out of the source until there are e.Requests turns,
// cutting the last session short, and returns them with the position of each
// session's first turn.
func pull(e *Env, source *Source) (turns []planned, first []int32) {
	var s Session
	for len(turns) < e.Requests {
		source.Next(&s)
		n := min(len(s.Turns), e.Requests-len(turns))
		first = append(first, int32(len(turns)))
		for i, t := range copyTurns(s.Turns[:n]) {
			turns = append(turns, planned{
				Turn: t, session: int32(len(first) - 1), turn: int32(i),
				previous: None, tags: s.Tags, open: s.Open,
			})
		}
	}
	return turns, first
}

// copyTurns copies turns with their segments; the paths of a chain, which are
// beginnings of its last one in the same memory, stay so.
func copyTurns(turns []Turn) []Turn {
	turns = slices.Clone(turns)
	longest := turns[len(turns)-1].Segments
	long := slices.Clone(longest)
	for i := range turns {
		t := &turns[i]
		if n := len(t.Segments); n > 0 && n <= len(long) && &t.Segments[0] == &longest[0] {
			t.Segments = long[:n:n]
		} else {
			t.Segments = slices.Clone(t.Segments)
		}
	}
	return turns
}

// schedule sets each turn's nominal time and what it waits for.
func schedule(turns []planned, first []int32, starts func() Start) error {
	end := make([]int64, len(first)) // nominal end of a session's last turn
	for s := range first {
		last := len(turns)
		if s+1 < len(first) {
			last = int(first[s+1])
		}
		start := starts()
		for i := int(first[s]); i < last; i++ {
			p := &turns[i]
			switch {
			case p.turn > 0:
				p.nominal = end[s] + p.ThinkUs
				if !p.open {
					p.previous, p.thinkUs = int32(i-1), p.ThinkUs
				}
			case start.After != None:
				if p.open {
					return errors.New("pace is open, expected arrivals that have times, not a closed loop")
				}
				p.nominal = end[start.After] + start.ThinkUs
				p.previous, p.thinkUs = first[start.After+1]-1, start.ThinkUs
			default:
				p.nominal = start.ArrivalUs
			}
			end[s] = p.nominal + nominalTokenUs*int64(p.Output)
		}
	}
	return nil
}
