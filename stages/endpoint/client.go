package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"switchyard/sim/rng"

	"golang.org/x/sync/singleflight"
)

// ErrMissing says that a run that is offline needs an answer that is not kept.
var ErrMissing = errors.New("the answer is not kept, and offline: true asks nobody")

// Options make a Client.
type Options struct {
	Servers []Server // with names
	Limits  Limits
	Answers *Answers
	Offline bool // answer from what is kept alone
	Seed    uint64
}

// Client asks models, and keeps every answer. Goroutines may share it.
type Client struct {
	options Options
	servers map[string]*server
	account *account
	flights singleflight.Group

	mu      sync.Mutex
	missing int // answers that an offline run lacks
}

// NewClient opens no connection yet.
func NewClient(o Options) (*Client, error) {
	c := &Client{options: o, servers: map[string]*server{}, account: newAccount(o.Limits)}
	for _, s := range o.Servers {
		if expected := checkURL(s.BaseURL); expected != "" {
			return nil, fmt.Errorf("endpoint %s: base_url is expected to be %s", s.Name, expected)
		}
		c.servers[s.Name] = newServer(s)
	}
	return c, nil
}

// Spent returns what the client has paid for.
func (c *Client) Spent() Spent { return c.account.total() }

// Missing returns how many answers an offline run has asked for in vain.
func (c *Client) Missing() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missing
}

// Ask returns a model's answer to a conversation: the one that is kept, or else
// a new one, which is kept. Sample tells answers to the same question apart.
func (c *Client) Ask(ctx context.Context, m *Model, messages []Message, sample int) (Answer, error) {
	s := c.servers[m.Endpoint]
	if s == nil {
		return Answer{}, fmt.Errorf("model %s: there is no endpoint %q", m.Name, m.Endpoint)
	}
	if m.Temperature == 0 {
		sample = 0
	}
	r, err := question(s, m, messages, sample)
	if err != nil {
		return Answer{}, err
	}
	if answer, ok := c.options.Answers.Find(r.Key); ok {
		return answer, nil
	}
	if c.options.Offline {
		c.mu.Lock()
		c.missing++
		c.mu.Unlock()
		return Answer{}, fmt.Errorf("%s: %w (key %.12s); give the command without offline once", m.describe(), ErrMissing, r.Key)
	}
	// Workers that want the same answer wait for the first of them.
	answer, err, _ := c.flights.Do(r.Key, func() (any, error) {
		if answer, ok := c.options.Answers.Find(r.Key); ok {
			return answer, nil
		}
		return c.fetch(ctx, s, m, r)
	})
	if err != nil {
		return Answer{}, err
	}
	return answer.(Answer), nil
}

// question is a record without an answer.
func question(s *server, m *Model, messages []Message, sample int) (Record, error) {
	parameters, err := m.parameters()
	if err != nil {
		return Record{}, err
	}
	text, err := json.Marshal(parameters) // keys in order
	if err != nil {
		return Record{}, err
	}
	r := Record{Endpoint: s.BaseURL, Model: m.Model, Parameters: text, Messages: messages, Sample: sample}
	h := sha256.New()
	put := func(part string) { fmt.Fprintf(h, "%d\n%s\n", len(part), part) }
	for _, part := range []string{"switchyard answer 1", r.Endpoint, r.Model, string(text), fmt.Sprint(sample)} {
		put(part)
	}
	for _, each := range messages {
		put(each.Role)
		put(each.Content)
	}
	r.Key = hex.EncodeToString(h.Sum(nil))
	return r, nil
}

// fetch asks until there is an answer.
func (c *Client) fetch(ctx context.Context, s *server, m *Model, r Record) (Answer, error) {
	if !s.keyed {
		return Answer{}, fmt.Errorf("%s: the environment variable %s is not set: put the endpoint's key into it", m.describe(), s.KeyEnv)
	}
	body, err := bodyOf(s, m, r.Messages)
	if err != nil {
		return Answer{}, err
	}
	prompt := tokens(characters(r.Messages))
	most := m.price(prompt, m.MaxTokens)
	jitter := rng.New(c.options.Seed, 0, "endpoint/"+r.Key)
	for attempt := 1; ; attempt++ {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
		answer, failed, err := c.try(ctx, s, m, &r, body, prompt, most, attempt)
		<-s.slots
		if err != nil || failed == nil {
			return answer, err
		}
		wait := time.Duration(s.backoff(attempt, jitter.Float64()) * float64(time.Second))
		if wait < failed.after {
			wait = failed.after
		}
		switch longest := time.Duration(s.LongestWaitS * float64(time.Second)); {
		case ctx.Err() != nil:
			return Answer{}, ctx.Err()
		case !failed.again:
			return Answer{}, fmt.Errorf("%s: %w", m.describe(), failed.err)
		case attempt > s.Retries:
			return Answer{}, fmt.Errorf("%s: %w; given up after %d attempts: give the command again when the endpoint works, or raise retries", m.describe(), failed.err, attempt)
		case failed.after > longest:
			return Answer{}, fmt.Errorf("%s: %w; it asks to wait %v, more than longest_wait_s = %g: give the command again after that", m.describe(), failed.err, failed.after, s.LongestWaitS)
		}
		if failed.after > 0 {
			s.pause(failed.after)
		}
		if err := s.wait(ctx, time.Now().Add(wait)); err != nil {
			return Answer{}, err
		}
	}
}

// try makes one attempt within the budget, and keeps what it brings.
func (c *Client) try(ctx context.Context, s *server, m *Model, r *Record, body []byte, prompt int, most float64, attempt int) (Answer, *failure, error) {
	if err := s.wait(ctx, time.Now()); err != nil {
		return Answer{}, nil, err
	}
	if err := c.account.reserve(most); err != nil {
		return Answer{}, nil, err
	}
	start := time.Now()
	got, failed := s.attempt(ctx, body)
	took := time.Since(start)
	if failed != nil {
		cost := 0.0
		if failed.paid { // most servers bill what they had begun
			cost = m.price(prompt, tokens(len([]rune(failed.begun.text))))
		}
		c.account.settle(most, cost)
		return Answer{}, failed, nil
	}
	if got.counted {
		got.input, got.output = prompt, tokens(len([]rune(got.text)))
	}
	r.Answer, r.Finish, r.InputTokens, r.OutputTokens, r.Counted = got.text, got.finish, got.input, got.output, got.counted
	r.LatencyUs, r.Attempts, r.Dollars = took.Microseconds(), attempt, m.price(got.input, got.output)
	c.account.settle(most, r.Dollars)
	answer, err := c.options.Answers.Keep(*r)
	return answer, nil, err
}

// backoff returns the seconds to wait behind an attempt: the base, doubled for
// each attempt before, between half and all of it.
func (s *server) backoff(attempt int, uniform float64) float64 {
	wait := s.RetryWaitS
	for i := 1; i < attempt && wait < s.LongestWaitS; i++ {
		wait *= 2
	}
	return min(wait, s.LongestWaitS) * (1 + uniform) / 2
}

// bodyOf is what a call sends.
func bodyOf(s *server, m *Model, messages []Message) ([]byte, error) {
	parameters, err := m.parameters()
	if err != nil {
		return nil, err
	}
	body := parameters
	body["model"], body["messages"] = m.Model, messages
	if s.Stream {
		body["stream"] = true
		if s.StreamUsage {
			body["stream_options"] = map[string]bool{"include_usage": true}
		}
	}
	return json.Marshal(body)
}
