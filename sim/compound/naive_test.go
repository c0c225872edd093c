package compound

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// naive answers one question at a time by the words of the package doc, with
// numbers and maps. It reads a world's latents, not its evaluation.
type naive struct {
	w     *World
	alloc []int32
	q     int
}

func bit(set []uint64, q int) bool { return set[q/64]>>(q%64)&1 == 1 }

func (n naive) candidate(i int) (id int32, model int32) {
	d := slices.Index(n.w.graph.decisions, i)
	id = n.w.lists[d][n.alloc[d]]
	return id, n.w.sample.candidates[id].Model
}

func (n naive) succeeds(i int) bool {
	id, _ := n.candidate(i)
	return bit(n.w.sample.talents[n.w.graph.modules[i].Skill].succeeds[id], n.q)
}

// errs is the wrong answer of module i's model, from 1.
func (n naive) errs(i int) int {
	_, model := n.candidate(i)
	answer := 0
	for b := 0; 1<<b <= n.w.sample.wrongs; b++ {
		if bit(n.w.sample.wrong[model][b*n.w.words:], n.q) {
			answer += 1 << b
		}
	}
	return answer
}

// flags is a critic's verdict.
func (n naive) flags(i int) bool {
	id, model := n.candidate(i)
	m, read := n.w.graph.modules[i], n.w.graph.reads[i][0]
	talent := n.w.sample.talents[m.Skill]
	if n.answer(read) == 0 {
		return bit(talent.alarms[model], n.q)
	}
	if n.w.graph.modules[read].Rule.LLM() {
		if _, author := n.candidate(read); author == model {
			return bit(talent.alone[id], n.q)
		}
	}
	return n.succeeds(i)
}

// answer is 0 where module i is right, else which wrong answer it gives.
func (n naive) answer(i int) int {
	m := n.w.graph.modules[i]
	var answers []int
	flagged := false
	for _, r := range n.w.graph.reads[i] {
		if n.w.graph.modules[r].Rule == Critic {
			flagged = n.flags(r)
		} else {
			answers = append(answers, n.answer(r))
		}
	}
	somewhere := slices.Contains(answers, 0)
	switch m.Rule {
	case Answer:
		for _, a := range answers {
			if a != 0 {
				return n.errs(i)
			}
		}
		if n.succeeds(i) {
			return 0
		}
		return n.errs(i)
	case Refine:
		switch {
		case !flagged:
			return answers[0]
		case n.succeeds(i):
			return 0
		}
		return n.errs(i)
	case Judge:
		if n.succeeds(i) && (m.Own || somewhere) {
			return 0
		}
		return answers[0]
	case Vote:
		count := map[int]int{}
		most := 0
		for _, a := range answers {
			count[a]++
			most = max(most, count[a])
		}
		for _, a := range answers {
			if count[a] == most {
				return a
			}
		}
	case All:
		for _, a := range answers {
			if a != 0 {
				return a
			}
		}
		return 0
	case Any:
		if somewhere {
			return 0
		}
		return answers[0]
	}
	panic("no answer")
}

// failed says whether module i failed itself.
func (n naive) failed(i int) bool {
	m := n.w.graph.modules[i]
	switch m.Rule {
	case Critic:
		return n.flags(i) == (n.answer(n.w.graph.reads[i][0]) == 0)
	case Judge:
		could := m.Own
		for _, r := range n.w.graph.reads[i] {
			could = could || n.answer(r) == 0
		}
		return could && !n.succeeds(i)
	}
	return !n.succeeds(i)
}

// randomGraph draws a system of modules of all rules.
func randomGraph(t *testing.T, s *rng.Stream) *Graph {
	t.Helper()
	var modules []Module
	var answers []string
	some := func(least int) (names []string) {
		for _, name := range answers {
			if s.IntN(2) == 0 {
				names = append(names, name)
			}
		}
		for len(names) < least {
			if name := answers[s.IntN(len(answers))]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for i := len(names) - 1; i > 0; i-- {
			j := s.IntN(i + 1)
			names[i], names[j] = names[j], names[i]
		}
		return names
	}
	add := func(m Module) {
		m.Name = fmt.Sprintf("m%d", len(modules))
		if s.IntN(2) == 0 {
			m.Skill = fmt.Sprintf("skill%d", s.IntN(2))
		}
		if s.IntN(4) == 0 && m.Rule.LLM() {
			m.Models = []string{"A", "C"}
		}
		modules = append(modules, m)
		if m.Rule != Critic {
			answers = append(answers, m.Name)
		}
	}
	for range 1 + s.IntN(3) {
		add(Module{Rule: Answer, Reads: []string{Query}})
	}
	for range 1 + s.IntN(4) {
		switch s.IntN(7) {
		case 0:
			add(Module{Rule: Answer, Reads: append(some(1), Query)})
		case 1, 2:
			read := answers[s.IntN(len(answers))]
			add(Module{Rule: Critic, Reads: []string{Query, read}})
			critic := modules[len(modules)-1].Name
			if s.IntN(2) == 0 { // may refine another answer than was criticised
				read = answers[s.IntN(len(answers))]
			}
			add(Module{Rule: Refine, Reads: []string{critic, read}})
		case 3:
			add(Module{Rule: Judge, Own: s.IntN(3) == 0, Reads: some(1)})
		case 4:
			add(Module{Rule: Vote, Reads: some(1)})
		case 5:
			add(Module{Rule: All, Reads: some(1)})
		case 6:
			add(Module{Rule: Any, Reads: some(1)})
		}
	}
	// A vote over what nobody reads ends it.
	var loose []string
	for _, m := range modules {
		if !slices.ContainsFunc(modules, func(o Module) bool { return slices.Contains(o.Reads, m.Name) }) {
			loose = append(loose, m.Name)
		}
	}
	if len(loose) > 1 {
		add(Module{Rule: Vote, Reads: loose})
	}
	g, err := NewGraph(modules, "")
	if err != nil {
		t.Fatalf("%v\n%+v", err, modules)
	}
	return g
}

// agrees holds an allocation's answers and culprits against naive ones.
func agrees(t *testing.T, w *World, alloc []int32) {
	t.Helper()
	right, scores := make([]uint64, w.words), make([]float32, w.questions)
	blame, fails := make([]uint64, w.words), make([]uint64, w.words)
	if err := w.Right(alloc, right); err != nil {
		t.Fatal(err)
	}
	if err := w.Scores(alloc, scores); err != nil {
		t.Fatal(err)
	}
	if w.questions%64 != 0 && right[w.words-1]>>(w.questions%64) != 0 {
		t.Fatal("bits beyond the last question")
	}
	n := naive{w, alloc, 0}
	for q := range w.questions {
		n.q = q
		want := n.answer(w.graph.output) == 0
		if bit(right, q) != want || (scores[q] == 1) != want {
			t.Fatalf("%+v\nallocation %v question %d: %v and %v, want %v", w.graph.modules, alloc, q, bit(right, q), scores[q], want)
		}
	}
	for d, i := range w.graph.decisions {
		if err := w.Culprits(alloc, d, blame); err != nil {
			t.Fatal(err)
		}
		if err := w.Failures(alloc, d, fails); err != nil {
			t.Fatal(err)
		}
		if w.questions%64 != 0 && fails[w.words-1]>>(w.questions%64) != 0 {
			t.Fatal("failures beyond the last question")
		}
		for q := range w.questions {
			n.q = q
			failed := n.failed(i)
			if bit(fails, q) != failed || bit(blame, q) != (failed && !bit(right, q)) {
				t.Fatalf("%+v\nallocation %v question %d module %d: failed %v, blamed %v, want failed %v",
					w.graph.modules, alloc, q, i, bit(fails, q), bit(blame, q), failed)
			}
		}
	}
}

func TestAgainstNaiveOnRandomGraphs(t *testing.T) {
	s := rng.New(1, 1, "graphs")
	rules := map[Rule]int{}
	for round := range 300 {
		g := randomGraph(t, s)
		for _, m := range g.modules {
			rules[m.Rule]++
		}
		toy := NewToy()
		toy.Models, toy.Prompts, toy.Wrong = 3, 1+s.IntN(2), 1+s.IntN(9)
		toy.Difficulty, toy.Luck = .5, .5
		toy.Train, toy.Test = 1+s.IntN(150), 1
		split, err := toy.Build(g, Env{Seed: 1, Pool: round})
		if err != nil {
			t.Fatal(err)
		}
		w := split.Train
		alloc := make([]int32, w.Modules())
		for range 3 {
			w.Allocation(int64(s.IntN(int(w.Allocations()))), alloc)
			agrees(t, w, alloc)
		}
		sweepAgrees(t, w, 200, s)
	}
	if len(rules) != len(Rules()) {
		t.Errorf("rules seen: %v", rules)
	}
}

// sweepAgrees holds a range of a sweep against evaluation one by one.
func sweepAgrees(t *testing.T, w *World, n int, s *rng.Stream) {
	t.Helper()
	n = min(n, int(w.Allocations()))
	first := int64(s.IntN(int(w.Allocations()) - n + 1))
	counts, scores, alloc := make([]int32, n), make([]float32, w.questions), make([]int32, w.Modules())
	if err := w.CountRange(first, counts); err != nil {
		t.Fatal(err)
	}
	for i, count := range counts {
		w.Allocation(first+int64(i), alloc)
		if w.Number(alloc) != first+int64(i) {
			t.Fatalf("number of %v is %d, want %d", alloc, w.Number(alloc), first+int64(i))
		}
		if err := w.Scores(alloc, scores); err != nil {
			t.Fatal(err)
		}
		var want int32
		for _, score := range scores {
			want += int32(score)
		}
		if count != want {
			t.Fatalf("%+v\nallocation %v: %d right, want %d", w.graph.modules, alloc, count, want)
		}
	}
}

func TestAgainstNaiveOnNamedSystems(t *testing.T) {
	s := rng.New(1, 1, "systems")
	for _, c := range []struct {
		system string
		set    func(SystemParams)
	}{
		{"locate-solve", func(SystemParams) {}},
		{"self-refine", func(SystemParams) {}},
		{"self-refine", func(p SystemParams) { p.(*SelfRefine).Rounds = 3 }},
		{"debate", func(SystemParams) {}},
		{"debate", func(p SystemParams) { p.(*Debate).Rounds = 2 }},
		{"debate", func(p SystemParams) { p.(*Debate).Rounds = 0 }},
		{"debate", func(p SystemParams) { p.(*Debate).Generators, p.(*Debate).Debaters = 2, 4 }},
		{"debate", func(p SystemParams) { p.(*Debate).Knowledge = "own" }},
		{"majority-vote", func(p SystemParams) { p.(*MajorityVote).Voters = 7 }},
		{"best-of", func(p SystemParams) { p.(*BestOf).Generators = 5 }},
	} {
		g := system(t, c.system, c.set)
		for pool := range 5 {
			toy := NewToy()
			toy.Models, toy.Train, toy.Test, toy.Wrong = 4, 130, 1, 1+pool
			split, err := toy.Build(g, Env{Seed: 2, Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			alloc := make([]int32, split.Train.Modules())
			for range 10 {
				split.Train.Allocation(int64(s.IntN(int(split.Train.Allocations()))), alloc)
				agrees(t, split.Train, alloc)
			}
			sweepAgrees(t, split.Train, 500, s)
		}
	}
}

// TestLatentsAgainstFormula draws a pool's latents again and compares shares,
// not quantiles.
func TestLatentsAgainstFormula(t *testing.T) {
	toy := NewToy()
	toy.Models, toy.Prompts, toy.Train, toy.Luck = 3, 2, 300, .4
	g := system(t, "self-refine")
	env := Env{Seed: 5, Replication: 3, Pool: 7}
	p, err := toy.pool(g, env)
	if err != nil {
		t.Fatal(err)
	}
	s := p.ask("train", toy.Train)
	z := func(name string) []float64 { return normals(rng.New(5, 3, "compound/pool/7/train/"+name), toy.Train) }
	d := z("difficulty")
	rest := math.Sqrt(1 - .85*.85 - .4*.4)
	for _, skill := range p.skills {
		for c, each := range p.candidates {
			luck, own := z(fmt.Sprintf("luck/%d", each.Model)), z(fmt.Sprintf("skill/%s/%d/%d", skill, each.Model, each.Prompt))
			for q := range d {
				u := .5 * math.Erfc(-(.85*d[q]+.4*luck[q]+rest*own[q])/math.Sqrt2)
				if bit(s.talents[skill].succeeds[c], q) != (u < p.abilities[skill][c]) {
					t.Fatalf("skill %s candidate %v question %d: u %v, ability %v", skill, each, q, u, p.abilities[skill][c])
				}
				if skill == "critic" && bit(s.talents[skill].alone[c], q) != (u < .3*p.abilities[skill][c]) {
					t.Fatalf("critic %v question %d: u %v, ability %v alone", each, q, u, .3*p.abilities[skill][c])
				}
			}
		}
	}
}
