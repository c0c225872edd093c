package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"switchyard/sim/param"
)

// asked is a call as a server sees it.
type asked struct {
	Model       string         `json:"model"`
	Messages    []Message      `json:"messages"`
	Stream      bool           `json:"stream"`
	Options     map[string]any `json:"stream_options"`
	MaxTokens   int            `json:"max_tokens"`
	Temperature *float64       `json:"temperature"`
	TopP        float64        `json:"top_p"`
}

// text is the whole conversation.
func (a *asked) text() string {
	var all []string
	for _, m := range a.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n")
}

// fake is a real server on this machine that speaks the protocol. Answer makes
// its replies; trouble, where there is one, may take a call over by returning
// true.
type fake struct {
	*httptest.Server
	answer  func(a *asked) string
	trouble func(call int, w http.ResponseWriter, r *http.Request) bool
	usage   bool
	delay   time.Duration

	calls  atomic.Int64
	flying atomic.Int64
	peak   atomic.Int64
	mu     sync.Mutex
	seen   []asked
	times  []time.Time
}

func newFake(t testing.TB, answer func(a *asked) string) *fake {
	f := &fake{answer: answer, usage: true}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	n := int(f.calls.Add(1))
	now := f.flying.Add(1)
	defer f.flying.Add(-1)
	for peak := f.peak.Load(); now > peak && !f.peak.CompareAndSwap(peak, now); peak = f.peak.Load() {
	}
	var a asked
	err := json.NewDecoder(r.Body).Decode(&a)
	f.mu.Lock()
	f.seen = append(f.seen, a)
	f.times = append(f.times, time.Now())
	f.mu.Unlock()
	time.Sleep(f.delay)
	switch {
	case err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost:
		http.Error(w, "no such thing", http.StatusNotFound)
	case f.trouble != nil && f.trouble(n, w, r):
	case a.Stream:
		f.stream(w, &a, f.answer(&a))
	default:
		f.plain(w, &a, f.answer(&a))
	}
}

// use is what a fake counts: a token a word.
func use(a *asked, text string) string {
	return fmt.Sprintf(`{"prompt_tokens": %d, "completion_tokens": %d}`, len(strings.Fields(a.text())), len(strings.Fields(text)))
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func (f *fake) plain(w http.ResponseWriter, a *asked, text string) {
	w.Header().Set("Content-Type", "application/json")
	usage := "null"
	if f.usage {
		usage = use(a, text)
	}
	fmt.Fprintf(w, `{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": %s}, "finish_reason": "stop"}], "usage": %s}`, quoted(text), usage)
}

func (f *fake) stream(w http.ResponseWriter, a *asked, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	runes := []rune(text)
	fmt.Fprint(w, ": a comment\n\n")
	for i := 0; i < len(runes); i += 3 {
		fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {\"content\": %s}}]}\n\n", quoted(string(runes[i:min(i+3, len(runes))])))
		w.(http.Flusher).Flush()
	}
	fmt.Fprint(w, "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n")
	if f.usage && a.Options["include_usage"] == true {
		fmt.Fprintf(w, "data: {\"choices\": [], \"usage\": %s}\n\n", use(a, text))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// aServer is the fake as the client knows it, with short waits.
func (f *fake) aServer(changes ...func(*Server)) Server {
	s := Server{}
	param.Defaults(&s)
	s.Name, s.BaseURL, s.RetryWaitS, s.LongestWaitS = "fake", f.URL+"/v1", 0.001, 5
	for _, change := range changes {
		change(&s)
	}
	return s
}

func aModel(changes ...func(*Model)) Model {
	m := Model{}
	param.Defaults(&m)
	m.Name, m.Model, m.Endpoint = "m", "m", "fake"
	for _, change := range changes {
		change(&m)
	}
	return m
}

// aClient is a client of one server, with its answers in a new file.
func aClient(t testing.TB, s Server, changes ...func(*Options)) *Client {
	t.Helper()
	o := Options{Servers: []Server{s}, Seed: 1}
	for _, change := range changes {
		change(&o)
	}
	if o.Answers == nil {
		var err error
		if o.Answers, err = OpenAnswers(filepath.Join(t.TempDir(), "answers.jsonl"), o.Offline); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Answers.Close() })
	}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func say(text string) []Message { return []Message{{"user", text}} }

// echo answers with the last message.
func echo(a *asked) string { return "You said: " + a.Messages[len(a.Messages)-1].Content }
