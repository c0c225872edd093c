package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// server is a Server at work: its connections, its limit, its pauses.
type server struct {
	Server
	key    secret
	keyed  bool // the variable of the key is set
	client *http.Client
	slots  chan struct{}

	mu    sync.Mutex
	until time.Time // no attempt starts before
}

func newServer(s Server) *server {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxConnsPerHost = s.Concurrency
	transport.MaxIdleConnsPerHost = s.Concurrency
	key, ok := keyOf(s.KeyEnv)
	return &server{
		Server: s, key: key, keyed: ok, slots: make(chan struct{}, s.Concurrency),
		client: &http.Client{
			Transport: transport,
			// A redirect would carry the key elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// failure is an attempt that brought no answer.
type failure struct {
	err   error
	again bool          // another attempt may bring one
	after time.Duration // what the server asks to wait
	begun reply         // what had come when it failed
	paid  bool          // the server had begun to answer
}

func (s *server) fail(again bool, format string, values ...any) *failure {
	return &failure{again: again, err: errors.New(s.key.scrub(fmt.Errorf(format, values...).Error()))}
}

// wait waits for the end of a pause, or of the context.
func (s *server) wait(ctx context.Context, at time.Time) error {
	for {
		s.mu.Lock()
		if s.until.After(at) {
			at = s.until
		}
		s.mu.Unlock()
		left := time.Until(at)
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// pause keeps all attempts at the server back.
func (s *server) pause(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := time.Now().Add(d); at.After(s.until) {
		s.until = at
	}
}

// attempt makes one call. The caller has a slot.
func (s *server) attempt(ctx context.Context, body []byte) (reply, *failure) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.TimeoutS*float64(time.Second)))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.BaseURL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return reply{}, s.fail(false, "%w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "switchyard")
	if s.key.text != "" {
		value := s.key.text
		if http.CanonicalHeaderKey(s.KeyHeader) == "Authorization" {
			value = "Bearer " + value
		}
		req.Header.Set(s.KeyHeader, value)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return reply{}, s.fail(true, "%w", s.broken(ctx, err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return reply{}, s.refused(res)
	}
	r := reply{counted: true}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		err = readStream(res.Body, &r)
	} else {
		err = readPlain(res.Body, &r)
	}
	if err != nil {
		f := s.fail(true, "%w", s.broken(ctx, err))
		f.begun, f.paid = r, true
		return reply{}, f
	}
	// What is kept must read back as it was; JSON holds valid UTF-8 alone.
	r.text = strings.ToValidUTF8(s.key.scrub(r.text), "\uFFFD")
	return r, nil
}

// broken says of a connection that broke whether the time was up.
func (s *server) broken(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no whole reply within timeout_s = %g", s.TimeoutS)
	}
	return err
}

// longestQuote is how much of a server's complaint is passed on.
const longestQuote = 300

// refused reads a reply that is no answer.
func (s *server) refused(res *http.Response) *failure {
	data, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	text := complaint(s.key.scrub(string(data)))
	code := res.StatusCode
	again := code == http.StatusRequestTimeout || code == http.StatusConflict || code == http.StatusTooEarly ||
		code == http.StatusTooManyRequests || code >= 500
	hint := ""
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		hint = "; check the key"
		if s.KeyEnv == "" {
			hint = "; name the environment variable of a key as key_env"
		} else {
			hint += " in " + s.KeyEnv
		}
	case code == http.StatusNotFound:
		hint = "; check base_url, which ends before /chat/completions, and the model's name"
	case code >= 300 && code < 400:
		hint = "; the endpoint has moved: set base_url to its new address"
	}
	f := s.fail(again, "%d %s: %s%s", code, http.StatusText(code), text, hint)
	f.after = retryAfter(res.Header.Get("Retry-After"), time.Now())
	return f
}

// complaint is the message of an error in the form that OpenAI gives it, or
// the beginning of the text.
func complaint(text string) string {
	var w struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text), &w) == nil && w.Error.Message != "" {
		text = w.Error.Message
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if runes := []rune(text); len(runes) > longestQuote {
		text = string(runes[:longestQuote]) + "..."
	}
	if text == "" {
		return "(no text)"
	}
	return text
}

// retryAfter reads the header of that name: seconds or a date (RFC 9110, 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds > 0) {
			return 0
		}
		return time.Duration(min(seconds, 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
