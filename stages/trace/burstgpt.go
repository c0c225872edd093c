package trace

import (
	"errors"
	"io"

	"switchyard/sim/workload"
)

// burstGPT is the format of the BurstGPT traces.
var burstGPT = Format{
	Name:    "burstgpt",
	Summary: "CSV of times, lengths and, from release 2.0 on, sessions, without prefixes (BurstGPT)",
	Source:  "github.com/HPMLL/BurstGPT; Wang et al., BurstGPT, KDD 2025",
	Columns: "Timestamp (s), Request tokens, Response tokens (tokens); optional Model and Log Type (become tags), Session ID",
	Empty: "left out and counted: Response tokens 0 marks a failed call. The publisher's files without_fails leave the same rows out, " +
		"so that both kinds of file give the same requests",
	turns:   true,
	matches: func(head []byte) bool { return hasColumns(head, "Timestamp", "Request tokens", "Response tokens") },
	read:    readBurstGPT,
}

func readBurstGPT(in *input, emit emitFunc) error {
	t, err := openTable(in, "Timestamp", "Request tokens", "Response tokens", "Model?", "Log Type?", "Session ID?")
	if err != nil {
		return err
	}
	users := users{session: map[string]int64{}, tags: map[[2]string][]string{}}
	var r workload.Request
	for {
		if err := t.next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r = workload.Request{After: workload.None, OutputID: workload.None}
		if err = burst(t, &r); err == nil {
			users.fill(t, &r)
			err = emit(t.l.n, 0, &r)
		}
		if err != nil {
			return t.at(err)
		}
	}
}

func burst(t *table, r *workload.Request) error {
	s, err := number("Timestamp", t.field(0))
	if err != nil {
		return err
	}
	if r.ArrivalUs, err = micros("Timestamp", s, 1e6); err != nil {
		return err
	}
	if r.Prompt, err = t.tokens(1); err != nil {
		return err
	}
	r.Output, err = t.tokens(2)
	return err
}

// users numbers sessions in order of appearance, and shares tags.
type users struct {
	session map[string]int64
	tags    map[[2]string][]string
}

func (u *users) fill(t *table, r *workload.Request) {
	r.Session = workload.None
	if id := t.field(5); len(id) > 0 {
		n, ok := u.session[string(id)]
		if !ok {
			n = int64(len(u.session))
			u.session[string(id)] = n
		}
		r.Session = n
	}
	model, kind := t.field(3), t.field(4)
	if len(model)+len(kind) == 0 {
		return
	}
	key := [2]string{string(model), string(kind)}
	tags, ok := u.tags[key]
	if !ok {
		for _, tag := range key {
			if tag != "" {
				tags = append(tags, tag)
			}
		}
		u.tags[key] = tags
	}
	r.Tags = tags
}
