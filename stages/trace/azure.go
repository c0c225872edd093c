package trace

import (
	"errors"
	"io"
	"time"

	"switchyard/sim/workload"
)

// azure is the format of Microsoft's traces of LLM inference in Azure.
var azure = Format{
	Name:    "azure",
	Summary: "CSV of times and lengths, without prefixes (Azure's LLM inference traces of 2023, 2024 and multimodal 2025)",
	Source: "github.com/Azure/AzurePublicDataset; 2023: Patel et al., Splitwise, ISCA 2024; 2024: Stojkovic et al., DynamoLLM, HPCA 2025; " +
		"2025: Qiu et al., ModServe, SoCC 2025",
	Columns: "TIMESTAMP (date and time with up to 9 decimals and an optional zone, UTC without), ContextTokens, GeneratedTokens (tokens)",
	Empty: "left out and counted: the publisher does not say what a call without generated tokens was, " +
		"and it has neither a first token nor a latency",
	matches: func(head []byte) bool { return hasColumns(head, "TIMESTAMP", "ContextTokens", "GeneratedTokens") },
	read:    readAzure,
}

func readAzure(in *input, emit emitFunc) error {
	t, err := openTable(in, "TIMESTAMP", "ContextTokens", "GeneratedTokens")
	if err != nil {
		return err
	}
	var at clock
	var r workload.Request
	for {
		if err := t.next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r = workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None}
		if r.ArrivalUs, err = at.parse("TIMESTAMP", t.field(0)); err == nil {
			if r.Prompt, err = t.tokens(1); err == nil {
				r.Output, err = t.tokens(2)
			}
		}
		if err == nil {
			err = emit(t.l.n, 0, &r)
		}
		if err != nil {
			return t.at(err)
		}
	}
}

// layouts are the ways in which the traces and common tools write times;
// parsing accepts a fraction of a second with each.
var layouts = []string{
	"2006-01-02 15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07",
	"2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05 MST",
}

// clock parses times, trying the layout that the last one had first.
type clock struct{ last int }

// parse returns microseconds since 1970, the rest of the fraction cut off.
func (c *clock) parse(field string, text []byte) (int64, error) {
	s := string(text)
	t, err := time.Parse(layouts[c.last], s)
	for i := 0; err != nil && i < len(layouts); i++ {
		if t, err = time.Parse(layouts[i], s); err == nil {
			c.last = i
		}
	}
	if err != nil {
		problem := quote(s)
		if s == "" {
			problem = "empty"
		}
		return 0, bad(field, problem, "a date and time such as 2023-11-16 18:15:46.6805900 or 2024-05-10 00:00:00.009930+00:00")
	}
	us := t.UnixMicro()
	if us < 0 || us >= exactUs {
		return 0, bad(field, quote(s), "a year from 1970 to 2254")
	}
	return us, nil
}
