package workload

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"switchyard/sim/param"
)

// defaults returns a generator with its defaults; a mixture gets components.
func defaults(t testing.TB, name string) Generator {
	t.Helper()
	entry, ok := FindGenerator(name)
	if !ok {
		t.Fatalf("no generator %q", name)
	}
	g := entry.New()
	param.Defaults(g)
	if m, ok := g.(*Mixture); ok {
		m.Components = []Component{
			{Name: "tool", Share: .5, Tags: []string{"tool"}, Generator: defaults(t, "tool-use")},
			{Name: "chat", Share: .3, Tags: []string{"chat"}, Generator: defaults(t, "chat")},
			{Name: "agent", Share: .2, Tags: []string{"agent"}, Generator: defaults(t, "embodied-agent")},
		}
	}
	if err := param.Validate(g); err != nil {
		t.Fatal(err)
	}
	return g
}

// collect returns copies of a workload's requests.
func collect(t testing.TB, s *Spec) []Request {
	t.Helper()
	var out []Request
	err := s.Each(func(r *Request) error {
		c := *r
		c.Segments = append([]Segment(nil), r.Segments...)
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func spec(t testing.TB, name string, requests, replication int) *Spec {
	return &Spec{Seed: 1, Replication: replication, Requests: requests, Generator: defaults(t, name), Arrivals: &Poisson{Rate{5}}}
}

func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range Generators() {
		if seen[g.Name] || g.Name == "" || g.Summary == "" || g.Source == "" {
			t.Errorf("generator %q stands twice or lacks a summary or a source", g.Name)
		}
		seen[g.Name] = true
		for _, f := range param.Fields(g.New()) {
			if f.Doc == "" {
				t.Errorf("%s: parameter %s has no doc", g.Name, f.Name)
			}
		}
	}
	for _, p := range Processes() {
		for _, f := range param.Fields(p.New()) {
			if f.Doc == "" {
				t.Errorf("%s: parameter %s has no doc", p.Name, f.Name)
			}
		}
	}
}

// Every generator makes exactly the requests asked for, sound ones, the same
// ones each time, and others in another replication; and its requests do not
// depend on the rate.
func TestEveryGenerator(t *testing.T) {
	for _, entry := range Generators() {
		t.Run(entry.Name, func(t *testing.T) {
			for _, n := range []int{1, 2, 7, 300} {
				w := build(t, collect(t, spec(t, entry.Name, n, 1)))
				if w.Len() != n {
					t.Fatalf("made %d requests, expected %d", w.Len(), n)
				}
				checkForest(t, w)
			}
			first := collect(t, spec(t, entry.Name, 300, 1))
			if !reflect.DeepEqual(first, collect(t, spec(t, entry.Name, 300, 1))) {
				t.Error("the same specification gave other requests")
			}
			if reflect.DeepEqual(first, collect(t, spec(t, entry.Name, 300, 2))) {
				t.Error("replications 1 and 2 are equal")
			}
			fast := spec(t, entry.Name, 300, 1)
			fast.Arrivals = &Poisson{Rate{10}}
			tokens := func(requests []Request) (sum int64) {
				for _, r := range requests {
					sum += int64(r.Prompt)<<20 + int64(r.Output)
				}
				return sum
			}
			if tokens(first) != tokens(collect(t, fast)) {
				t.Error("another rate gave other requests")
			}
		})
	}
}

// The means and the popularity of the lecture's workloads.
func TestLecture(t *testing.T) {
	const n, replications = 4000, 20
	for _, c := range []struct {
		name           string
		prompt, output float64
		top            float64 // share of the most popular group; 0 where it is not asked
	}{
		{"lecture-documents", 13 + 21000 + 2100, 16, .2027},
		{"lecture-video", 13 + 8680 + 1170, 4, 0},
		{"lecture-tool", 355 + 1205 + 275, 43, 0},
		{"lecture-hot-tool", 355 + 1205 + 275, 43, .414},
		{"lecture-agent", 1737 + 70*6.5, 16, 0},
		{"lecture-programming", 1000 + 1000 + 1750 + 116, 190, 0},
	} {
		var prompt, output, top float64
		for r := 1; r <= replications; r++ {
			w, err := spec(t, c.name, n, r).Build()
			if err != nil {
				t.Fatal(err)
			}
			p := w.Profile()
			prompt += p.PromptMean / replications
			output += p.OutputMean / replications
			// Node 1 is the group of some request; the largest group below the root is the most popular.
			most := int32(0)
			for node, v := range w.visits() {
				if w.Forest.Level[node] == 2 {
					most = max(most, v)
				}
			}
			top += float64(most) / n / replications
		}
		// A popular group's length moves the mean of a whole replication.
		if math.Abs(prompt/c.prompt-1) > .08 {
			t.Errorf("%s: mean prompt is %.0f tokens, expected about %.0f", c.name, prompt, c.prompt)
		}
		if math.Abs(output/c.output-1) > .02 {
			t.Errorf("%s: mean output is %.2f tokens, expected about %.2f", c.name, output, c.output)
		}
		if c.top > 0 && math.Abs(top-c.top) > .01 {
			t.Errorf("%s: most popular group has %.3f of the requests, expected %.3f", c.name, top, c.top)
		}
	}
}

// What is published of the variants that Preble's scripts use.
func TestPrebleScripts(t *testing.T) {
	const n = 3000
	get := func(name string) ([]Request, *Workload) {
		requests := collect(t, spec(t, name, n, 1))
		return requests, build(t, requests)
	}
	groups := func(requests []Request) map[string]int {
		m := map[string]int{}
		for _, r := range requests {
			m[fmt.Sprint(r.Segments)]++
		}
		return m
	}
	check := func(name, what string, ok bool) {
		t.Helper()
		if !ok {
			t.Errorf("%s: expected %s", name, what)
		}
	}
	longest := func(w *Workload) (prompt, output int32) {
		for i := range w.Prompt {
			prompt, output = max(prompt, w.Prompt[i]), max(output, w.Output[i])
		}
		return prompt, output
	}

	requests, w := get("preble-toolbench-even")
	prompt, _ := longest(w)
	check("even", "prompts up to 4096", prompt <= 4096 && prompt > 3500)
	for _, count := range groups(requests) {
		check("even", "15 requests a prefix", count == n/200)
	}
	ps := profiles(t, "preble-toolbench-even", n, 30, nil)
	mean, sd := average(ps, func(p *Profile) float64 { return p.PromptMean }), average(ps, func(p *Profile) float64 { return p.PromptSD })
	t.Logf("even: prompts of %.0f +- %.0f tokens, published are 1760 +- 715", mean, sd)
	check("even", "prompts of 1760 +- 715", math.Abs(mean/1760-1) < .03 && math.Abs(sd/715-1) < .06)

	requests, _ = get("preble-toolbench-zipf")
	most := 0
	for _, count := range groups(requests) {
		most = max(most, count)
	}
	check("zipf", "22 % for the most popular", math.Abs(float64(most)/n-.216) < .03)

	_, w = get("preble-loogle")
	prompt, output := longest(w)
	check("loogle", "outputs of 45, prompts that fit 32768", output == 45 && prompt+45 <= 32768)
	check("loogle", "no equal prompts", w.Profile().KeyShared == 24)

	requests, w = get("preble-video")
	check("video", "videos cropped to 8192 with the system prompt", w.Forest.End[w.Leaf[0]] <= 8192)
	for path, count := range groups(requests) {
		var a, b, id, tokens int
		fmt.Sscanf(path, "[{%d %d} {%d %d}]", &a, &b, &id, &tokens)
		check("video", "multiples of 256 or the crop", tokens%256 == 0 || tokens+b == 8192)
		check("video", "popularity by length", count > 0 && math.Abs(float64(count)/float64(tokens+b)/(n/(100*6471.))-1) < .35)
	}

	_, w = get("preble-programming")
	_, output = longest(w)
	check("programming", "outputs up to 512", output == 512)
	check("programming", "a system prompt of 2400", w.Forest.End[0] == 2400)

	requests, w = get("preble-embodied")
	roots := 0
	for _, parent := range w.Forest.Parent {
		if parent == None {
			roots++
		}
	}
	check("embodied", "200 conversations that share nothing", roots == 200)
	for i := range requests {
		r := &requests[i]
		check("embodied", "outputs of 26 that nobody reads", r.Output == 26 && r.OutputID == None)
		if r.Turn == 14 {
			last := r.Segments[len(r.Segments)-1]
			check("embodied", "14 dummy tokens behind the recorded steps", last.Tokens == 14)
		}
	}

	_, w = get("preble-percent-shared")
	for i := range w.Prompt {
		check("percent", "8192 tokens, 40 % of them common to all", w.Prompt[i] == 8192 && w.Forest.End[0] == 3277)
	}
}

func TestChat(t *testing.T) {
	requests := collect(t, spec(t, "chat", 4000, 1))
	byID := map[int]*Request{}
	sessions := map[int64][]int{}
	for i := range requests {
		byID[i] = &requests[i]
		sessions[requests[i].Session] = append(sessions[requests[i].Session], i)
	}
	for _, turns := range sessions {
		for k, i := range turns {
			r := &requests[i]
			if int(r.Turn) != k || (k == 0) != (r.After == None) {
				t.Fatalf("request %d is turn %d after %d, expected turn %d", i, r.Turn, r.After, k)
			}
			if k == 0 {
				continue
			}
			before := &requests[turns[k-1]]
			if r.After != int32(turns[k-1]) {
				t.Fatalf("turn waits for request %d, expected %d", r.After, turns[k-1])
			}
			want := append(append([]Segment(nil), before.Segments...), Segment{before.OutputID, before.Output})
			if got := r.Segments[:len(r.Segments)-1]; !reflect.DeepEqual(got, want) {
				t.Fatalf("turn begins with %v, expected the prompt and the output before it, %v", got, want)
			}
			if r.Prompt+r.Output > 8192 {
				t.Fatalf("turn of %d + %d tokens, expected at most 8192", r.Prompt, r.Output)
			}
		}
		if last := &requests[turns[len(turns)-1]]; last.OutputID != None && len(sessions) > 0 && int(last.Session) != len(sessions)-1 {
			t.Fatalf("last turn of session %d has an output segment that nobody reads", last.Session)
		}
	}
	if mean := 4000 / float64(len(sessions)); mean < 4 || mean > 5.3 {
		t.Errorf("sessions have %.2f turns on average, expected nearly 5 (some end at the limit)", mean)
	}
}

func TestMixture(t *testing.T) {
	requests := collect(t, spec(t, "mixture", 2000, 1))
	counts := map[string]int{}
	owner := map[int64]string{}
	for _, r := range requests {
		if len(r.Tags) != 1 {
			t.Fatalf("tags are %v, expected one", r.Tags)
		}
		counts[r.Tags[0]]++
		for _, s := range r.Segments {
			if o, ok := owner[s.ID]; ok && o != r.Tags[0] {
				t.Fatalf("segment %d belongs to %s and to %s", s.ID, o, r.Tags[0])
			}
			owner[s.ID] = r.Tags[0]
		}
	}
	if counts["tool"] != 1000 || counts["chat"] != 600 || counts["agent"] != 400 {
		t.Errorf("components have %v requests, expected 1000, 600 and 400", counts)
	}
	// A component's requests do not depend on the parameters of another.
	changed := spec(t, "mixture", 2000, 1)
	changed.Generator.(*Mixture).Components[0].Generator.(*ToolUse).Question = 999
	chat := func(requests []Request) (sum int64) {
		for _, r := range requests {
			if strings.Join(r.Tags, " ") == "chat" {
				sum += int64(r.Prompt) * int64(r.Output)
			}
		}
		return sum
	}
	if chat(requests) != chat(collect(t, changed)) {
		t.Error("the chat changed with a parameter of the tool")
	}
	for _, wrong := range []*Mixture{{}, {Components: []Component{{Name: "a", Share: -1}}}, {Components: []Component{{Name: "a"}}},
		{Components: []Component{{Name: "a", Share: 1}, {Name: "a", Share: 1}}}} {
		if wrong.Check() == nil {
			t.Errorf("mixture %v passed its check", wrong)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, name := range []string{"tool-use", "lecture-tool", "embodied-agent", "chat"} {
		b.Run(name, func(b *testing.B) {
			const n = 100000
			b.ReportAllocs()
			for b.Loop() {
				if _, err := spec(b, name, n, 1).Build(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
