package generate

import (
	"fmt"

	"switchyard/sim/param"
	"switchyard/sim/workload"
	"switchyard/stages/trace"
)

// Where requests come from, see Variant.Source.
const (
	generated        = "generated"
	recorded         = "recorded"
	resampledSession = "resampled sessions"
	resampledWindow  = "resampled %d windows of %v s"
)

// resampled says what the resamples of a trace are drawn from.
func resampled(t *trace.Requests, windowUs int64) string {
	if t.Sessions() {
		return resampledSession
	}
	var last workload.Request
	t.At(t.Len()-1, &last)
	return fmt.Sprintf(resampledWindow, last.ArrivalUs/windowUs+1, param.Format(float64(windowUs)/1e6))
}

// fewWindows is the number of windows below which a resample says little: of n
// units, a bootstrap's variance lies below that of the traffic by a share of
// about 1/n, and what it is itself estimated from is n values.
const fewWindows = 10

// Doubts returns what every row measured with requests of that source has to
// warn of.
func Doubts(source string) []string {
	if source == resampledSession {
		return []string{"bootstrap of whole sessions: they do not come in the recorded order"}
	}
	var n int64
	var seconds string
	if _, err := fmt.Sscanf(source, resampledWindow, &n, &seconds); err != nil {
		return nil
	}
	doubts := []string{fmt.Sprintf("bootstrap of %s s windows: reuse across windows is broken", seconds)}
	if n < fewWindows {
		doubts = append(doubts, fmt.Sprintf("bootstrap of so few windows as %d: no interval over resamples holds", n))
	}
	return doubts
}
