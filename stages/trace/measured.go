package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"switchyard/sim/workload"
)

// measuredFormat is what a load generator writes of the requests that it sent
// to a real server.
var measuredFormat = Format{
	Name:    "measured",
	Summary: "CSV of requests with the latencies that a server had, for calibration and to replay",
	Source:  "load generators of serving engines; this program's own names",
	Columns: "arrival_s (s), prompt_tokens, output_tokens (tokens), ttft_s, e2e_s (s; read by ReadMeasured alone); " +
		"optional cached_tokens (tokens; likewise), replica (from 0: that served it, for router recorded)",
	Empty: "left out and counted: the request failed, and what it cost the server is not known",
	matches: func(head []byte) bool {
		return hasColumns(head, "arrival_s", "prompt_tokens", "output_tokens", "ttft_s", "e2e_s")
	},
	read: func(in *input, emit emitFunc) error {
		return readMeasured(in, func(line int, r *workload.Request, _ *Latency) error { return emit(line, 0, r) })
	},
}

// Latency is what was measured of a request.
type Latency struct {
	TTFTUs, E2EUs int64 // from arrival to first and last token; -1 where not measured
	Cached        int32 // prompt tokens found in the cache; -1 where not known
}

// Measured is a recording of requests with their latencies, in order of
// arrival, the first at 0.
type Measured struct {
	File     string
	Requests []workload.Request
	Latency  []Latency
	Records  int // in the file
	Failed   int // of these, left out for want of tokens or latencies
}

// Notes says in a sentence what was left out.
func (m *Measured) Notes() []string {
	if m.Failed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d of %d records left out: no tokens or no latencies", m.File, m.Failed, m.Records)}
}

// ReadMeasured reads a file of the format measured, plain or gzipped.
func ReadMeasured(file string, r io.Reader) (*Measured, error) {
	in, _, err := unpack(file, r)
	if err != nil {
		return nil, err
	}
	m := &Measured{File: file}
	type record struct {
		r workload.Request
		l Latency
	}
	var all []record
	err = readMeasured(in, func(_ int, r *workload.Request, l *Latency) error {
		m.Records++
		if r.Prompt < 1 || r.Output < 1 || l.TTFTUs < 0 || l.E2EUs < 0 {
			m.Failed++
			return nil
		}
		all = append(all, record{*r, *l})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &Error{File: file, Problem: fmt.Sprintf("none of %d records has tokens and latencies", m.Records), Expected: "measured requests"}
	}
	slices.SortStableFunc(all, func(a, b record) int { return cmp.Compare(a.r.ArrivalUs, b.r.ArrivalUs) })
	start := all[0].r.ArrivalUs
	for i := range all {
		all[i].r.ArrivalUs -= start
		m.Requests = append(m.Requests, all[i].r)
		m.Latency = append(m.Latency, all[i].l)
	}
	return m, nil
}

// readMeasured decodes row after row.
func readMeasured(in *input, emit func(line int, r *workload.Request, l *Latency) error) error {
	t, err := openTable(in, "arrival_s", "prompt_tokens", "output_tokens", "ttft_s", "e2e_s", "cached_tokens?", "replica?")
	if err != nil {
		return err
	}
	for {
		if err := t.next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None}
		var l Latency
		err := t.measured(&r, &l)
		if err == nil {
			err = emit(t.l.n, &r, &l)
		}
		if err != nil {
			return t.at(err)
		}
	}
}

// measured decodes a row.
func (t *table) measured(r *workload.Request, l *Latency) error {
	at, err := number("arrival_s", t.field(0))
	if err != nil {
		return err
	}
	if r.ArrivalUs, err = micros("arrival_s", at, 1e6); err != nil {
		return err
	}
	if r.Prompt, err = t.tokens(1); err != nil {
		return err
	}
	if r.Output, err = t.tokens(2); err != nil {
		return err
	}
	if l.TTFTUs, err = t.latency(3); err != nil {
		return err
	}
	if l.E2EUs, err = t.latency(4); err != nil {
		return err
	}
	if l.E2EUs >= 0 && l.E2EUs < l.TTFTUs {
		return bad("e2e_s", quote(string(t.field(4))), "at least ttft_s: both count from the arrival")
	}
	l.Cached = -1
	if len(t.field(5)) > 0 {
		if l.Cached, err = t.tokens(5); err != nil {
			return err
		}
		if l.Cached > r.Prompt {
			return bad("cached_tokens", quote(string(t.field(5))), "at most prompt_tokens")
		}
	}
	r.Served, err = t.served(6)
	return err
}

// latency parses the i-th name's value in seconds; a request that failed has
// none, or no number.
func (t *table) latency(i int) (us int64, err error) {
	text := t.field(i)
	if len(text) == 0 || string(text) == "nan" || string(text) == "NaN" {
		return -1, nil
	}
	name := t.names[t.column[i]]
	s, err := number(name, text)
	if err != nil {
		return 0, err
	}
	if s < 0 || math.IsInf(s, 0) {
		return 0, bad(name, quote(string(text)), "seconds since the arrival, of at least 0")
	}
	return micros(name, s, 1e6)
}
