package trace

import (
	"errors"
	"io"
	"math"
	"slices"

	"switchyard/sim/workload"
)

// requestsFormat is a plain list of requests over prefix groups, for workloads
// that are written by hand or by another simulator.
var requestsFormat = Format{
	Name:    "requests",
	Summary: "CSV of times, lengths and prefix groups: the requests of a group begin with the same tokens",
	Source:  "this program's own; a plain form to exchange workloads in",
	Columns: "arrival_us (us), prompt_tokens, output_tokens (tokens; the prompt holds the prefix, and the rest is the request's own); " +
		"optional prefix_group (a number; empty or negative: none) and prefix_tokens (tokens that the request has of its group's prefix), " +
		"replica (from 0: that it was sent to, for router recorded)",
	Empty:   "an error: such a file is made on purpose",
	strict:  true,
	matches: func(head []byte) bool { return hasColumns(head, "arrival_us", "prompt_tokens", "output_tokens") },
	read:    readRequests,
}

// grouped is a row of a requests file.
type grouped struct {
	line   int
	r      workload.Request
	group  int64 // workload.None without
	prefix int32
}

// readRequests reads all rows before it emits any: requests of one group that
// have more or less of its prefix share what the shorter one has, so that the
// prefix is cut into segments wherever one of them ends.
func readRequests(in *input, emit emitFunc) error {
	t, err := openTable(in, "arrival_us", "prompt_tokens", "output_tokens", "prefix_group?", "prefix_tokens?", "replica?")
	if err != nil {
		return err
	}
	var rows []grouped
	for {
		if err := t.next(); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return err
		}
		row, err := t.grouped()
		if err != nil {
			return t.at(err)
		}
		rows = append(rows, row)
	}
	prefixes := cutPrefixes(rows)
	for i := range rows {
		row := &rows[i]
		if row.prefix > 0 {
			row.r.Segments = prefixes[row.group].upTo(row.prefix)
		}
		if err := emit(row.line, 0, &row.r); err != nil {
			var e *Error
			if errors.As(err, &e) {
				e.File, e.Line = in.file, row.line
			}
			return err
		}
	}
	return nil
}

// grouped decodes a row.
func (t *table) grouped() (row grouped, err error) {
	row = grouped{line: t.l.n, group: workload.None}
	row.r = workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None}
	at, err := number("arrival_us", t.field(0))
	if err != nil {
		return row, err
	}
	if row.r.ArrivalUs, err = micros("arrival_us", at, 1); err != nil {
		return row, err
	}
	if row.r.Prompt, err = t.tokens(1); err != nil {
		return row, err
	}
	if row.r.Output, err = t.tokens(2); err != nil {
		return row, err
	}
	if row.r.Served, err = t.served(5); err != nil || len(t.field(3)) == 0 {
		return row, err
	}
	group, err := number("prefix_group", t.field(3))
	if err != nil {
		return row, err
	}
	if group != math.Trunc(group) || math.Abs(group) >= exactUs {
		return row, bad("prefix_group", quote(string(t.field(3))), "a whole number, negative or empty for none")
	}
	if group < 0 || len(t.field(4)) == 0 {
		return row, nil
	}
	if row.prefix, err = t.tokens(4); err != nil {
		return row, err
	}
	if row.prefix > row.r.Prompt {
		return row, bad("prefix_tokens", quote(string(t.field(4))), "at most the prompt_tokens, which hold the prefix")
	}
	row.group = int64(group)
	return row, nil
}

// served parses the i-th name's value as the number of a replica from 0, which
// Request.Served counts from 1; empty is 0.
func (t *table) served(i int) (int32, error) {
	text := t.field(i)
	if len(text) == 0 {
		return 0, nil
	}
	x, err := number(t.names[t.column[i]], text)
	if err != nil {
		return 0, err
	}
	if x < 0 || x != math.Trunc(x) || x >= math.MaxInt32 {
		return 0, bad(t.names[t.column[i]], quote(string(text)), "a replica's number from 0, or nothing")
	}
	return int32(x) + 1, nil
}

// prefix is the prefix of a group in segments.
type prefix struct {
	first int64   // id of its first segment
	ends  []int32 // tokens up to the end of each
}

// cutPrefixes cuts the prefix of each group at every length that a request has
// of it.
func cutPrefixes(rows []grouped) map[int64]*prefix {
	all := map[int64]*prefix{}
	var order []*prefix
	for i := range rows {
		if rows[i].prefix == 0 {
			continue
		}
		p := all[rows[i].group]
		if p == nil {
			p = new(prefix)
			all[rows[i].group] = p
			order = append(order, p)
		}
		if at, found := slices.BinarySearch(p.ends, rows[i].prefix); !found {
			p.ends = slices.Insert(p.ends, at, rows[i].prefix)
		}
	}
	next := int64(0)
	for _, p := range order {
		p.first = next
		next += int64(len(p.ends))
	}
	return all
}

// upTo returns the segments of the first n tokens.
func (p *prefix) upTo(n int32) []workload.Segment {
	var s []workload.Segment
	from := int32(0)
	for i, end := range p.ends {
		if end > n {
			break
		}
		s = append(s, workload.Segment{ID: p.first + int64(i), Tokens: end - from})
		from = end
	}
	return s
}
