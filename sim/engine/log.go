package engine

import "math"

// Never is a time that does not come.
const Never = int64(math.MaxInt64)

// Log is where replicas write what happened to each request, one entry a
// request in every slice; times are nanoseconds, -1 where they never came.
type Log struct {
	StartNs, FirstNs, FinishNs []int64
	Cached                     []int32 // prompt tokens found in the cache at admission, at most all but the last
	Host                       []int32 // prompt tokens copied from host memory at admission, behind those
	Unlimited                  []int32 // tokens found there, had nothing ever been evicted
	Preemptions                []int16 // times that it was preempted
	TimedOut                   []bool  // it left the queue unserved, at its replica's End

	match  []int32 // tokens found in the cache
	pinned []int32 // node whose path a running request keeps from eviction, none without
	places []place // of waiting requests

	// Where requests may be preempted:
	made  []int32 // output tokens made before the last admission
	hoped []int32 // output tokens that were expected at the last admission
	last  []int64 // decode step with which that expectation ends, 0 once it has
	turn  []int32 // order of admission on its replica
}

// Reset prepares the log for n requests.
func (l *Log) Reset(n int) {
	l.StartNs = filled(l.StartNs, n, -1)
	l.FirstNs = filled(l.FirstNs, n, -1)
	l.FinishNs = filled(l.FinishNs, n, -1)
	l.Cached = cleared(l.Cached, n)
	l.Host = cleared(l.Host, n)
	l.Unlimited = cleared(l.Unlimited, n)
	l.Preemptions = cleared(l.Preemptions, n)
	l.TimedOut = cleared(l.TimedOut, n)
	l.match, l.pinned = cleared(l.match, n), cleared(l.pinned, n)
	l.made, l.places = l.made[:0], l.places[:0]
}

// Clear forgets what happened to a request that was lost with its replica and
// is to be served from the start.
func (l *Log) Clear(id int32) {
	l.StartNs[id], l.FirstNs[id], l.FinishNs[id] = -1, -1, -1
	l.Cached[id], l.Host[id], l.Unlimited[id], l.Preemptions[id], l.TimedOut[id] = 0, 0, 0, 0, false
	l.match[id] = 0
	if len(l.places) > 0 {
		l.places[id] = place{}
	}
	if len(l.made) > 0 {
		l.made[id], l.hoped[id], l.last[id], l.turn[id] = 0, 0, 0, 0
	}
}

// wait makes room for the places of n waiting requests.
func (l *Log) wait(n int) {
	if len(l.places) != n {
		l.places = cleared(l.places, n)
	}
}

// preemptible makes room for what is known of n requests that may be preempted.
func (l *Log) preemptible(n int) {
	if len(l.made) == n {
		return // another replica has done so
	}
	l.made, l.hoped, l.last, l.turn = cleared(l.made, n), cleared(l.hoped, n), cleared(l.last, n), cleared(l.turn, n)
}

func filled(s []int64, n int, v int64) []int64 {
	s = cleared(s, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// Stats are the running totals of a replica.
type Stats struct {
	Requests     int64 // that entered
	PromptTokens int64 // of admitted requests
	CachedTokens int64 // of those, found in the cache
	HostTokens   int64 // of those, copied from host memory
	OutputTokens int64 // of finished requests
	Steps        int64
	BusyNs       int64   // time in steps
	PeakKV       int64   // most tokens in memory
	KVTimeNs     float64 // integral of tokens in memory over time
	QueueTimeNs  float64 // integral of waiting requests over time
	SystemTimeNs float64 // integral of waiting and running requests over time
	Evicted      int64   // tokens
}

// Plus returns the totals of a replica that was started anew: before and after.
func (s Stats) Plus(before Stats) Stats {
	s.Requests += before.Requests
	s.PromptTokens += before.PromptTokens
	s.CachedTokens += before.CachedTokens
	s.HostTokens += before.HostTokens
	s.OutputTokens += before.OutputTokens
	s.Steps += before.Steps
	s.BusyNs += before.BusyNs
	s.KVTimeNs += before.KVTimeNs
	s.QueueTimeNs += before.QueueTimeNs
	s.SystemTimeNs += before.SystemTimeNs
	s.Evicted += before.Evicted
	s.PeakKV = max(s.PeakKV, before.PeakKV)
	return s
}

// Since returns what came to the totals after before; PeakKV is that of s.
func (s Stats) Since(before Stats) Stats {
	s.Requests -= before.Requests
	s.PromptTokens -= before.PromptTokens
	s.CachedTokens -= before.CachedTokens
	s.HostTokens -= before.HostTokens
	s.OutputTokens -= before.OutputTokens
	s.Steps -= before.Steps
	s.BusyNs -= before.BusyNs
	s.KVTimeNs -= before.KVTimeNs
	s.QueueTimeNs -= before.QueueTimeNs
	s.SystemTimeNs -= before.SystemTimeNs
	s.Evicted -= before.Evicted
	return s
}
