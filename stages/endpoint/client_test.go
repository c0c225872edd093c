package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPlainAndStream: the same answers and counts, whichever way they come; a
// server without counts has 4 characters a token.
func TestPlainAndStream(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, usage := range []bool{true, false} {
			f := newFake(t, echo)
			f.usage = usage
			c := aClient(t, f.aServer(func(s *Server) { s.Stream = stream }))
			m := aModel(func(m *Model) { m.InputPrice, m.OutputPrice, m.Body = 1e6, 2e6, `{"top_p": 0.5}` })
			a, err := c.Ask(t.Context(), &m, say("one two\nthree ☂"), 0)
			want := Answer{Text: "You said: one two\nthree ☂", InputTokens: 4, OutputTokens: 6}
			cost := 4 + 2*6.0
			if !usage { // 15 and 25 characters
				want.InputTokens, want.OutputTokens, want.Counted = 4, 7, true
				cost = 4 + 2*7
			}
			a.LatencyUs, want.LatencyUs = min(a.LatencyUs, 1), 1
			if err != nil || a != want {
				t.Errorf("stream %v, usage %v: %+v, %v, expected %+v", stream, usage, a, err, want)
			}
			if got := c.Spent(); got != (Spent{1, cost}) {
				t.Errorf("spent %+v, expected 1 call and $%g", got, cost)
			}
			sent := f.seen[0]
			if sent.Model != "m" || sent.Stream != stream || sent.MaxTokens != 1000 || *sent.Temperature != 0.1 || sent.TopP != 0.5 {
				t.Errorf("sent %+v", sent)
			}
		}
	}
}

// TestAnswersAreAskedOnce: a kept answer costs no call; what is part of the
// question makes another.
func TestAnswersAreAskedOnce(t *testing.T) {
	f := newFake(t, echo)
	f.delay = 20 * time.Millisecond
	c := aClient(t, f.aServer())
	m := aModel()
	var wait sync.WaitGroup
	for range 10 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if a, err := c.Ask(t.Context(), &m, say("hello"), 0); err != nil || a.Text != "You said: hello" {
				t.Errorf("%+v, %v", a, err)
			}
		}()
	}
	wait.Wait()
	if n := f.calls.Load(); n != 1 {
		t.Fatalf("%d calls for one question", n)
	}
	warm, cold := aModel(func(m *Model) { m.Temperature = 1 }), aModel(func(m *Model) { m.Temperature = 0 })
	for i, ask := range []struct {
		m      *Model
		text   string
		sample int
		calls  int64
	}{
		{&m, "hello", 0, 1}, {&m, "hello!", 0, 2}, {&m, "hello", 1, 3}, {&warm, "hello", 0, 4},
		{&cold, "hello", 0, 5}, {&cold, "hello", 7, 5}, {&m, "hello", 1, 5},
	} {
		if _, err := c.Ask(t.Context(), ask.m, say(ask.text), ask.sample); err != nil || f.calls.Load() != ask.calls {
			t.Errorf("question %d: %d calls, expected %d: %v", i, f.calls.Load(), ask.calls, err)
		}
	}
}

// TestTroubles: each trouble passes when the server behaves at the third
// attempt, and is an error that names it when it does not.
func TestTroubles(t *testing.T) {
	status := func(code int, header, value string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set(header, value)
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"error": {"message": "trouble %d"}}`, code)
		}
	}
	events := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, text)
		}
	}
	for name, trouble := range map[string]struct {
		make func(w http.ResponseWriter)
		want string
		once bool // it is not tried again
	}{
		"internal error": {make: status(500, "X", "y"), want: "500 Internal Server Error: trouble 500"},
		"rate limit":     {make: status(429, "Retry-After", "0.01"), want: "429 Too Many Requests: trouble 429"},
		"too long to wait": {make: status(429, "Retry-After", "7"), once: true,
			want: "it asks to wait 7s, more than longest_wait_s = 5"},
		"bad request":      {make: status(400, "X", "y"), want: "400 Bad Request: trouble 400", once: true},
		"no key":           {make: status(401, "X", "y"), want: "key_env", once: true},
		"moved":            {make: status(302, "Location", "/v2"), want: "set base_url to its new address", once: true},
		"malformed":        {make: func(w http.ResponseWriter) { fmt.Fprint(w, `{"choices": [`) }, want: "the reply is no JSON"},
		"no choices":       {make: func(w http.ResponseWriter) { fmt.Fprint(w, `{"choices": []}`) }, want: "no choices"},
		"error as reply":   {make: func(w http.ResponseWriter) { fmt.Fprint(w, `{"error": {"message": "overloaded"}}`) }, want: "overloaded"},
		"stalls":           {make: func(http.ResponseWriter) { time.Sleep(400 * time.Millisecond) }, want: "timeout_s = 0.2"},
		"stream stops":     {make: events("data: {\"choices\": [{\"delta\": {\"content\": \"You\"}}]}\n\n"), want: "the stream ends early"},
		"stream malformed": {make: events("data: {\"choices\": [{\n\n"), want: "a piece of the stream is no JSON"},
		"connection breaks": {make: func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"choices": [`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, want: "the reply ends early"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, echo)
			var always atomic.Bool
			f.trouble = func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n < 3 || always.Load() {
					trouble.make(w)
					return true
				}
				return false
			}
			c := aClient(t, f.aServer(func(s *Server) { s.TimeoutS, s.Retries = 0.2, 2 }))
			m := aModel()
			a, err := c.Ask(t.Context(), &m, say("hello"), 0)
			switch {
			case trouble.once:
				if err == nil || !strings.Contains(err.Error(), trouble.want) || f.calls.Load() != 1 {
					t.Fatalf("%d calls, %v, expected one and %s", f.calls.Load(), err, trouble.want)
				}
				return
			case err != nil || a.Text != "You said: hello" || f.calls.Load() != 3:
				t.Fatalf("%+v after %d calls: %v", a, f.calls.Load(), err)
			}
			always.Store(true)
			_, err = c.Ask(t.Context(), &m, say("again"), 0)
			if err == nil || !strings.Contains(err.Error(), trouble.want) || !strings.Contains(err.Error(), "given up after 3 attempts") || f.calls.Load() != 6 {
				t.Errorf("%d calls, %v, expected 6 and %s", f.calls.Load(), err, trouble.want)
			}
		})
	}
}

// TestRetryAfterHoldsAllBack: while a server asks to wait, no call goes there.
func TestRetryAfterHoldsAllBack(t *testing.T) {
	f := newFake(t, echo)
	const pause = 300 * time.Millisecond
	f.trouble = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			w.Header().Set("Retry-After", fmt.Sprint(pause.Seconds()))
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return n == 1
	}
	c := aClient(t, f.aServer(func(s *Server) { s.Concurrency = 1 }))
	m := aModel()
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if _, err := c.Ask(t.Context(), &m, say(fmt.Sprint(i)), 0); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	early := 0
	for _, at := range f.times[1:] {
		if at.Sub(f.times[0]) < pause-20*time.Millisecond {
			early++
		}
	}
	// The next caller may have had its turn before the first noted the pause.
	if early > 1 || len(f.times) != 5 {
		t.Errorf("%d of %d calls came during the pause", early, len(f.times))
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, "-3": 0, "soon": 0, "NaN": 0,
		"Tue, 04 Mar 2025 05:06:17 GMT": 10 * time.Second, "Tue, 04 Mar 2025 05:06:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, expected %v", value, got, want)
		}
	}
}

// TestBackoff: 1, 2, 4 ... up to the longest, times 1/2 to 1.
func TestBackoff(t *testing.T) {
	s := &server{Server: Server{RetryWaitS: 1, LongestWaitS: 10}}
	for attempt, want := range map[int]float64{1: 1, 2: 2, 3: 4, 4: 8, 5: 10, 60: 10} {
		if got := s.backoff(attempt, 0); got != want/2 {
			t.Errorf("attempt %d: least wait %g, expected %g", attempt, got, want/2)
		}
		if got := s.backoff(attempt, 1); got != want {
			t.Errorf("attempt %d: longest wait %g, expected %g", attempt, got, want)
		}
	}
}

// TestConcurrency: the limit holds over all callers, and is used.
func TestConcurrency(t *testing.T) {
	f := newFake(t, echo)
	f.delay = 20 * time.Millisecond
	limit := 3
	f.trouble = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		if f.flying.Load() > int64(limit) {
			w.WriteHeader(http.StatusTooManyRequests)
			t.Error("more calls in flight than the limit")
			return true
		}
		return false
	}
	c := aClient(t, f.aServer(func(s *Server) { s.Concurrency = limit }))
	m := aModel()
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if _, err := c.Ask(t.Context(), &m, say(fmt.Sprint(i)), 0); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	if f.peak.Load() != int64(limit) {
		t.Errorf("%d calls in flight at most, expected %d", f.peak.Load(), limit)
	}
}

// TestBudgets: neither limit is passed, whatever is in flight, and the error
// says what was spent and how to go on.
func TestBudgets(t *testing.T) {
	for name, limits := range map[string]Limits{"calls": {Calls: 5}, "dollars": {Dollars: 0.0101}} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(*asked) string { return "a b" })
			path := filepath.Join(t.TempDir(), "answers.jsonl")
			ask := func(limits Limits) (failed int, last error, c *Client) {
				answers, err := OpenAnswers(path, false)
				if err != nil {
					t.Fatal(err)
				}
				defer answers.Close()
				c = aClient(t, f.aServer(), func(o *Options) { o.Limits, o.Answers = limits, answers })
				m := aModel(func(m *Model) { m.OutputPrice, m.MaxTokens = 1000, 4 }) // $.002 an answer, at most .004
				var mu sync.Mutex
				var wait sync.WaitGroup
				for i := range 12 {
					wait.Add(1)
					go func() {
						defer wait.Done()
						if _, err := c.Ask(t.Context(), &m, say(fmt.Sprint(i)), 0); err != nil {
							mu.Lock()
							failed, last = failed+1, err
							mu.Unlock()
						}
					}()
				}
				wait.Wait()
				return failed, last, c
			}
			// A fifth answer would have left .0101 - .008 = .0021 for one of up to .004.
			want := map[string]int{"calls": 5, "dollars": 4}[name]
			failed, err, c := ask(limits)
			if failed != 12-want || !errors.Is(err, ErrSpent) || int(f.calls.Load()) != want || c.Spent().Calls != want {
				t.Fatalf("%d of 12 failed after %d calls, expected %d calls: %v", failed, f.calls.Load(), want, err)
			}
			for _, part := range []string{fmt.Sprintf("%d calls and $%.4f", want, 0.002*float64(want)), "raise calls_limit or dollars_limit"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v, expected %s", err, part)
				}
			}
			if failed, err, _ := ask(Limits{}); failed != 0 || f.calls.Load() != 12 {
				t.Errorf("going on: %d failed, %d calls in all, expected 12: %v", failed, f.calls.Load(), err)
			}
		})
	}
}

// TestOffline: kept answers are given, others are said to be missing, and no
// call is made.
func TestOffline(t *testing.T) {
	f := newFake(t, echo)
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	answers, err := OpenAnswers(path, false)
	if err != nil {
		t.Fatal(err)
	}
	m := aModel()
	if _, err := aClient(t, f.aServer(), func(o *Options) { o.Answers = answers }).Ask(t.Context(), &m, say("known"), 0); err != nil {
		t.Fatal(err)
	}
	answers.Close()
	if answers, err = OpenAnswers(path, true); err != nil {
		t.Fatal(err)
	}
	c := aClient(t, f.aServer(func(s *Server) { s.KeyEnv = "SWITCHYARD_NO_SUCH_KEY" }), func(o *Options) { o.Answers, o.Offline = answers, true })
	if a, err := c.Ask(t.Context(), &m, say("known"), 0); err != nil || a.Text != "You said: known" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := c.Ask(t.Context(), &m, say("new"), 0); !errors.Is(err, ErrMissing) || c.Missing() != 1 || f.calls.Load() != 1 {
		t.Errorf("%v, %d missing, %d calls", err, c.Missing(), f.calls.Load())
	}
	c = aClient(t, f.aServer(func(s *Server) { s.KeyEnv = "SWITCHYARD_NO_SUCH_KEY" }))
	if _, err := c.Ask(t.Context(), &m, say("new"), 0); err == nil || !strings.Contains(err.Error(), "SWITCHYARD_NO_SUCH_KEY is not set") {
		t.Error(err)
	}
}
