package vllmref

import (
	"fmt"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/rng"
)

// draw makes a small cluster under pressure and requests with shared prefixes,
// conversations that repeat outputs, bursts and a few that never fit.
func draw(r *rng.Stream) (Config, []Request) {
	below := r.IntN
	c := Config{
		Replicas: 1 + below(3), BaseUs: 100, PerRequestUs: 3, PerPrefillUs: 2.5, PerContextUs: .25,
		BlockSize: 1 + below(6), TokenBudget: 1 + below(40), MaxSeqs: 1 + below(6),
		LongPrefillThreshold: below(2) * (1 + below(12)),
		AdmissionDelayUs:     int64(below(2) * below(500)), FrontEndUs: int64(below(2) * below(50)),
	}
	c.Blocks = 1 + 40/c.BlockSize + below(60/c.BlockSize+1)
	at := int64(0)
	var requests []Request
	for range 40 {
		at += int64(below(3) * below(700))
		q := Request{ArrivalUs: at, PrefixGroup: below(4) - 1, PromptTokens: 1 + below(30), OutputTokens: 1 + below(20)}
		q.PrefixTokens = below(q.PromptTokens + 1)
		if below(3) == 0 {
			for range q.PromptTokens {
				q.Content = append(q.Content, int64(below(8)/7))
			}
			for range q.OutputTokens {
				q.OutputContent = append(q.OutputContent, int64(below(8)/7))
			}
		}
		requests = append(requests, q)
	}
	return c, requests
}

func cases(t *testing.T, f func(t *testing.T, c Config, requests []Request)) {
	for i := range 400 {
		c, requests := draw(rng.New(1, i, "cases"))
		f(t, c, requests)
		if t.Failed() {
			t.Fatalf("case %d: %+v", i, c)
		}
	}
}

func run(t *testing.T, c Config, requests []Request, see func(Step)) []Outcome {
	t.Helper()
	outcomes, err := Trace(c, requests, see)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// TestStepsKeepTheRules checks what each step shows against the bounds of the
// configuration, and that the drawn cases reach what is to be tested.
func TestStepsKeepTheRules(t *testing.T) {
	var hits, preemptions, selfPreemptions, rejections int
	cases(t, func(t *testing.T, c Config, requests []Request) {
		clock := make([]int64, c.Replicas)
		emitted := make([]int, len(requests))
		active := map[int]bool{}
		outcomes := run(t, c, requests, func(s Step) {
			if s.StartUs < clock[s.Replica] || s.EndUs <= s.StartUs {
				t.Errorf("step %v after %d", s, clock[s.Replica])
			}
			clock[s.Replica] = s.EndUs
			for _, i := range s.Preempted {
				delete(active, i)
			}
			budget := 0
			used := map[int]bool{}
			for _, w := range s.Work {
				active[w.Request] = true
				budget += w.Tokens
				if w.Admitted && len(s.Preempted) > 0 {
					t.Errorf("step %v preempts and admits", s)
				}
				if w.Prefill && c.LongPrefillThreshold > 0 && w.Tokens > c.LongPrefillThreshold {
					t.Errorf("step %v: a chunk over the threshold", s)
				}
				if len(w.Blocks) != blocksFor(w.Context+w.Tokens, c.BlockSize) {
					t.Errorf("step %v: request %d has %d blocks", s, w.Request, len(w.Blocks))
				}
				for _, b := range w.Blocks {
					used[b] = true
				}
				if w.Context+w.Tokens >= requests[w.Request].PromptTokens+emitted[w.Request] {
					emitted[w.Request]++
					if emitted[w.Request] == requests[w.Request].OutputTokens {
						delete(active, w.Request)
					}
				}
			}
			if budget > c.TokenBudget || len(s.Work) > c.MaxSeqs || len(used) > c.Blocks || len(s.Work) == 0 {
				t.Errorf("step %v: %d tokens, %d requests, %d blocks", s, budget, len(s.Work), len(used))
			}
		})
		for i, o := range outcomes {
			q := requests[i]
			if o.Rejected != (q.PromptTokens+q.OutputTokens > c.Blocks*c.BlockSize) {
				t.Errorf("request %d: %+v", i, o)
			}
			if o.Rejected {
				rejections++
				continue
			}
			if o.TTFTUs <= c.AdmissionDelayUs+c.FrontEndUs || o.E2EUs < o.TTFTUs || (o.E2EUs == o.TTFTUs) != (q.OutputTokens == 1) ||
				emitted[i] != q.OutputTokens || o.CachedTokens >= q.PromptTokens || o.CachedTokens%c.BlockSize != 0 {
				t.Errorf("request %d: %+v with %d outputs", i, o, emitted[i])
			}
			hits += o.CachedTokens
			preemptions += o.Preemptions
		}
		if len(active) > 0 {
			t.Errorf("requests left over: %v", active)
		}
	})
	cases(t, func(t *testing.T, c Config, requests []Request) {
		run(t, c, requests, func(s Step) {
			if n := len(s.Preempted); n > 0 && len(s.Work) > 0 && s.Preempted[n-1] > s.Work[len(s.Work)-1].Request {
				selfPreemptions++
			}
		})
	})
	t.Logf("%d tokens hit, %d preemptions, %d rejections", hits, preemptions, rejections)
	if hits == 0 || preemptions < 100 || rejections == 0 || selfPreemptions == 0 {
		t.Error("the drawn cases do not reach all that they should")
	}
}

// TestPoolAddsUp looks at the replica between steps: the users of a block are
// the running sequences that have it, the free list is each block without users
// once, registrations agree in both directions, and every running request
// worked in the step before, for nobody's demand of budget ever rises but that
// of the last of the list.
func TestPoolAddsUp(t *testing.T) {
	cases(t, func(t *testing.T, c Config, requests []Request) {
		c.Replicas = 1
		outcomes := make([]Outcome, len(requests))
		r := newReplica(c, 0, outcomes)
		known := contents{}
		for i, q := range requests {
			if q.PromptTokens+q.OutputTokens <= c.Blocks*c.BlockSize {
				r.arrivals = append(r.arrivals, newSequence(i, q, known.ofBlocks(tokens(i, q), c.BlockSize)))
			}
		}
		r.run(func(s Step) {
			users := make([]int, c.Blocks)
			for _, q := range r.running {
				for _, b := range q.blocks {
					users[b]++
				}
				if !slices.ContainsFunc(s.Work, func(w Work) bool { return w.Request == q.index }) {
					t.Errorf("step %v: request %d runs and does not work", s, q.index)
				}
			}
			var free []int
			for b, n := range users {
				if n == 0 {
					free = append(free, b)
				}
			}
			registered := 0
			for content, blocks := range r.pool.holders {
				for _, b := range blocks {
					registered++
					if r.pool.holds[b] != content {
						t.Errorf("block %d holds %d, is listed for %d", b, r.pool.holds[b], content)
					}
				}
			}
			for _, content := range r.pool.holds {
				if content != none {
					registered--
				}
			}
			if !slices.Equal(users, r.pool.users) || !slices.Equal(free, slices.Sorted(slices.Values(r.pool.free))) || registered != 0 {
				t.Errorf("after step %v: pool %+v, users %v", s, r.pool, users)
			}
		})
	})
}

// TestHitsWithoutEviction: where nothing is ever overwritten, a hit is the
// longest common start, in whole blocks, with anything scheduled before.
func TestHitsWithoutEviction(t *testing.T) {
	cases(t, func(t *testing.T, c Config, requests []Request) {
		c.Replicas, c.Blocks = 1, 2000 // more than the requests have tokens
		computed := make([]int, len(requests))
		text := make([][]token, len(requests))
		for i, q := range requests {
			text[i] = tokens(i, q)
		}
		run(t, c, requests, func(s Step) {
			for _, w := range s.Work {
				mine := text[w.Request]
				best := 0
				for i, n := range computed {
					theirs := text[i][:n]
					same := 0
					for same < min(n, len(mine)) && theirs[same] == mine[same] {
						same++
					}
					best = max(best, same)
				}
				best = min(best, requests[w.Request].PromptTokens-1) / c.BlockSize * c.BlockSize
				if w.Admitted && w.Cached != best {
					t.Errorf("step %v: request %d hits %d, longest start is %d", s, w.Request, w.Cached, best)
				}
				computed[w.Request] = w.Context + w.Tokens
			}
		})
	})
}

// TestShifts: a delay is a later arrival, a front end a constant, a later start
// of everything no change.
func TestShifts(t *testing.T) {
	cases(t, func(t *testing.T, c Config, requests []Request) {
		nothing := func(Step) {}
		plain := c
		plain.AdmissionDelayUs, plain.FrontEndUs = 0, 0
		want := run(t, plain, requests, nothing)
		delayed := plain
		delayed.AdmissionDelayUs, delayed.FrontEndUs = 70, 5
		later := slices.Clone(requests)
		for i := range later {
			later[i].ArrivalUs += 1000003
		}
		for i, got := range run(t, delayed, later, nothing) {
			if !got.Rejected {
				got.TTFTUs -= 75
				got.E2EUs -= 75
			}
			if got != want[i] {
				t.Errorf("request %d: %+v, want %+v", i, got, want[i])
			}
		}
	})
}

// TestReplicasAreApart: each is a cluster of one with every n-th request. The
// requests carry their content, for what is derived depends on the index.
func TestReplicasAreApart(t *testing.T) {
	cases(t, func(t *testing.T, c Config, requests []Request) {
		for i := range requests {
			q := &requests[i]
			q.Content, q.OutputContent = nil, nil
			for _, token := range tokens(i, *q) {
				q.Content = append(q.Content, token.id+1000*int64(token.owner)+100000*int64(token.kind))
			}
			q.Content, q.OutputContent = q.Content[:q.PromptTokens:q.PromptTokens], q.Content[q.PromptTokens:]
		}
		want := run(t, c, requests, func(Step) {})
		for k := range c.Replicas {
			var mine []Request
			for i := k; i < len(requests); i += c.Replicas {
				mine = append(mine, requests[i])
			}
			one := c
			one.Replicas = 1
			for j, got := range run(t, one, mine, func(Step) {}) {
				if got != want[k+j*c.Replicas] {
					t.Errorf("request %d: %+v, want %+v", k+j*c.Replicas, got, want[k+j*c.Replicas])
				}
			}
		}
	})
}

func TestErrors(t *testing.T) {
	good := small(4, 8)
	for _, c := range []struct {
		want   string
		change func(c *Config, r *Request)
	}{
		{"Replicas is 0", func(c *Config, r *Request) { c.Replicas = 0 }},
		{"BlockSize is 0", func(c *Config, r *Request) { c.BlockSize = 0 }},
		{"Blocks is 0", func(c *Config, r *Request) { c.Blocks = 0 }},
		{"TokenBudget is 0", func(c *Config, r *Request) { c.TokenBudget = 0 }},
		{"MaxSeqs is 0", func(c *Config, r *Request) { c.MaxSeqs = 0 }},
		{"LongPrefillThreshold is -1", func(c *Config, r *Request) { c.LongPrefillThreshold = -1 }},
		{"AdmissionDelayUs is -1", func(c *Config, r *Request) { c.AdmissionDelayUs = -1 }},
		{"FrontEndUs is -1", func(c *Config, r *Request) { c.FrontEndUs = -1 }},
		{"PerPrefillUs is NaN", func(c *Config, r *Request) { c.PerPrefillUs = math.NaN() }},
		{"BaseUs is -1", func(c *Config, r *Request) { c.BaseUs = -1 }},
		{"PerContextUs is +Inf", func(c *Config, r *Request) { c.PerContextUs = math.Inf(1) }},
		{"request 0: ArrivalUs", func(c *Config, r *Request) { r.ArrivalUs = -1 }},
		{"request 0: PromptTokens", func(c *Config, r *Request) { r.PromptTokens = 0 }},
		{"request 0: OutputTokens", func(c *Config, r *Request) { r.OutputTokens = 0 }},
		{"request 0: PrefixGroup", func(c *Config, r *Request) { r.PrefixGroup = -2 }},
		{"request 0: PrefixTokens", func(c *Config, r *Request) { r.PrefixGroup, r.PrefixTokens = 0, 4 }},
		{"request 0: Content has 1", func(c *Config, r *Request) { r.Content = []int64{1} }},
		{"request 0: OutputContent has 1", func(c *Config, r *Request) { r.OutputContent = []int64{1} }},
	} {
		config, request := good, alone(0, 3, 2)
		c.change(&config, &request)
		if _, err := Run(config, []Request{request}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	if outcomes, err := Run(good, nil); err != nil || len(outcomes) != 0 {
		t.Errorf("no requests: %v, %v", outcomes, err)
	}
}

// TestOnlyTestsImportIt: the program must not rest on the plain implementation.
func TestOnlyTestsImportIt(t *testing.T) {
	files := 0
	for _, layer := range []string{"sim", "stages", "pipeline"} {
		err := filepath.WalkDir("../../../"+layer, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return nil // a file that does not parse imports nothing
			}
			for _, i := range file.Imports {
				if i.Path.Value == `"switchyard/sim/engine/vllmref"` {
					t.Errorf("%s imports vllmref, which is for tests only", path)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 10 {
		t.Errorf("looked at %d files only", files)
	}
}

func ExampleRun() {
	outcomes, err := Run(Config{
		Replicas: 1, BaseUs: 1000, PerPrefillUs: 10, PerContextUs: 1,
		BlockSize: 4, Blocks: 5, TokenBudget: 8, MaxSeqs: 2,
	}, []Request{
		{PrefixGroup: -1, PromptTokens: 6, OutputTokens: 4},
		{PrefixGroup: -1, PromptTokens: 5, OutputTokens: 3},
	})
	fmt.Println(outcomes[0].TTFTUs, outcomes[1].E2EUs, err)
	// Output: 1080 4147 <nil>
}
