package router

import (
	"math"
	"slices"

	"switchyard/sim/workload"
)

// userWindow counts the tokens of each user, that is session, in a window of
// the last minutes: what was added in a minute counts until the whole seconds
// since that minute's start exceed the window. The least and the greatest count
// among users who have any stand at the top of a tree, so that finding them
// does not take a look at every user.
type userWindow struct {
	of      []int32 // by request: its user, none without a session
	tokens  []int64 // by user
	added   []userTokens
	gone    int     // of added, those that count no more
	low     []int64 // the tree: entry 1 is the top, entries 2n and 2n+1 stand below n, users at leaves
	high    []int64
	leaves  int
	windowS int64
}

type userTokens struct {
	minute, tokens int64
	user           int32
}

const noTokens = math.MaxInt64 // in low, of a user without tokens

func newUserWindow(w *workload.Workload, minutes int64) *userWindow {
	of, n := sessionIndex(w)
	u := &userWindow{of: of, windowS: 60 * minutes}
	u.leaves = 1
	for u.leaves < n {
		u.leaves *= 2
	}
	u.tokens = make([]int64, n)
	u.high = make([]int64, 2*u.leaves)
	u.low = slices.Repeat([]int64{noTokens}, 2*u.leaves)
	return u
}

// sessionIndex numbers the sessions of a workload from 0: by request its
// session, none without, and how many numbers there are.
func sessionIndex(w *workload.Workload) (of []int32, n int) {
	sessions := slices.Clone(w.Session)
	slices.Sort(sessions)
	sessions = slices.Compact(sessions)
	of = make([]int32, w.Len())
	for id := range of {
		of[id] = none
		if s := sessionOf(w, int32(id)); s != workload.None {
			at, _ := slices.BinarySearch(sessions, s)
			of[id] = int32(at)
		}
	}
	return of, len(sessions)
}

// add counts tokens for a user.
func (u *userWindow) add(user int32, tokens, nowNs int64) {
	u.added = append(u.added, userTokens{nowNs / 60e9, tokens, user})
	u.change(user, tokens)
}

// expire takes off what is too old.
func (u *userWindow) expire(nowNs int64) {
	nowS := nowNs / 1e9
	for u.gone < len(u.added) && nowS-60*u.added[u.gone].minute > u.windowS {
		a := u.added[u.gone]
		u.change(a.user, -a.tokens)
		u.gone++
	}
	if u.gone > 1024 && 2*u.gone > len(u.added) {
		u.added = slices.Delete(u.added, 0, u.gone)
		u.gone = 0
	}
}

func (u *userWindow) change(user int32, tokens int64) {
	u.tokens[user] += tokens
	n := u.leaves + int(user)
	u.high[n], u.low[n] = u.tokens[user], u.tokens[user]
	if u.tokens[user] == 0 {
		u.low[n] = noTokens
	}
	for n /= 2; n > 0; n /= 2 {
		u.low[n], u.high[n] = min(u.low[2*n], u.low[2*n+1]), max(u.high[2*n], u.high[2*n+1])
	}
}

// extremes returns the least and the greatest count of users who have any, 0
// where nobody has.
func (u *userWindow) extremes() (low, high int64) {
	if u.high[1] == 0 {
		return 0, 0
	}
	return u.low[1], u.high[1]
}
