package compound

import (
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func share(sets ...[]uint64) float64 {
	n := 0
	for k := range sets[0] {
		word := ^uint64(0)
		for _, s := range sets {
			word &= s[k]
		}
		n += bits.OnesCount64(word)
	}
	return float64(n)
}

// latents builds a large sample of self-refine with three models.
func latents(t *testing.T, rq, rm float64, n int) (*pool, *sample) {
	t.Helper()
	toy := NewToy()
	toy.Models, toy.Difficulty, toy.Luck, toy.Wrong = 3, rq, rm, 3
	p, err := toy.pool(system(t, "self-refine"), Env{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	return p, p.ask("train", n)
}

func TestMarginalsAreAbilities(t *testing.T) {
	const n = 100_000
	p, s := latents(t, .85, .3, n)
	for _, skill := range p.skills {
		for c, set := range s.talents[skill].succeeds {
			near(t, share(set)/n, p.abilities[skill][c], n)
		}
	}
	for c, set := range s.talents["critic"].alone {
		near(t, share(set)/n, .3*p.abilities["critic"][c], n)
	}
	for _, set := range s.talents["critic"].alarms {
		near(t, share(set)/n, .1, n)
	}
}

// bivariate is P(Z1 < a, Z2 < b) for standard normals of correlation r, by
// Simpson's rule over the first.
func bivariate(a, b, r float64) float64 {
	const steps = 4000
	low := -9.
	f := func(x float64) float64 {
		density := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		return density * .5 * math.Erfc(-(b-r*x)/math.Sqrt(1-r*r)/math.Sqrt2)
	}
	h := (a - low) / steps
	sum := f(low) + f(a)
	for i := 1; i < steps; i++ {
		sum += f(low+float64(i)*h) * float64(2+i%2*2)
	}
	return sum * h / 3
}

// TestCorrelations holds joint successes against the bivariate normal: rq^2
// between models, rq^2 + rm^2 between skills of one.
func TestCorrelations(t *testing.T) {
	const n, rq, rm = 100_000, .7, .5
	p, s := latents(t, rq, rm, n)
	for _, skill := range p.skills {
		for _, other := range p.skills {
			for m := range 3 {
				for o := range 3 {
					if skill == other && m == o {
						continue
					}
					r := rq * rq
					if m == o {
						r += rm * rm
					}
					want := bivariate(quantile(p.abilities[skill][m]), quantile(p.abilities[other][o]), r)
					near(t, share(s.talents[skill].succeeds[m], s.talents[other].succeeds[o])/n, want, n)
				}
			}
		}
	}
}

func TestWrongAnswersAreUniform(t *testing.T) {
	const n = 90_000
	_, s := latents(t, .5, .5, n)
	words := wordsOf(n)
	for _, planes := range s.wrong {
		counts := [4]int{}
		for q := range n {
			answer := 0
			for b := range 2 {
				answer |= int(planes[b*words+q/64]>>(q%64)&1) << b
			}
			counts[answer]++
		}
		for _, count := range counts[1:] {
			near(t, float64(count)/n, 1./3, n)
		}
		if counts[0] != 0 {
			t.Errorf("%d questions on which a model cannot err", counts[0])
		}
	}
}

// TestClosedForms works systems of independent latents out by hand.
func TestClosedForms(t *testing.T) {
	const n = 200_000
	const a, b, c = .7, .4, .8 // abilities at the three skills, or of the models
	build := func(name string, abilities []float64, models, wrong int) *World {
		toy := NewToy()
		toy.Models, toy.Abilities, toy.Difficulty, toy.Luck, toy.Wrong = models, abilities, 0, 0, wrong
		toy.Train, toy.Test = n, 1
		split, err := toy.Build(system(t, name), Env{Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		return split.Train
	}
	accuracy := func(w *World, alloc ...int32) float64 {
		right := make([]uint64, w.words)
		if err := w.Right(alloc, right); err != nil {
			t.Fatal(err)
		}
		return share(right) / n
	}
	w := build("locate-solve", []float64{a, a, b, b}, 2, 1)
	near(t, accuracy(w, 0, 0), a*b, n)
	near(t, accuracy(w, 0, 1), a*b, n)

	w = build("self-refine", []float64{a, a, b, b, c, c}, 2, 1)
	near(t, accuracy(w, 0, 1, 1), a*(1-.1*(1-c))+(1-a)*b*c, n)
	near(t, accuracy(w, 0, 0, 1), a*(1-.1*(1-c))+(1-a)*.3*b*c, n)

	// Three voters with one wrong answer: at least two right. With many wrong
	// answers, which hardly ever agree, also only the first one.
	two := a*b*c + a*b*(1-c) + a*(1-b)*c + (1-a)*b*c
	w = build("majority-vote", []float64{a, b, c}, 3, 1)
	near(t, accuracy(w, 0, 1, 2), two, n)
	w = build("majority-vote", []float64{a, b, c}, 3, 2)
	near(t, accuracy(w, 0, 1, 2), two+a*(1-b)*(1-c)/2, n)
	near(t, accuracy(w, 2, 0, 1), two+c*(1-a)*(1-b)/2, n)

	// A judge of ability d: the first is right, or another is and it succeeds.
	const d = .6
	w = build("best-of", []float64{a, b, c, d, d, d}, 3, 2)
	near(t, accuracy(w, 0, 1, 2, 0), a+(1-a)*d*(1-(1-b)*(1-c)), n)

	// In a debate of one model, who is right stays so and nobody else gets right.
	w = build("debate", []float64{a, b, c, d, d, d}, 3, 2)
	near(t, accuracy(w, 0, 0, 0, 1, 1, 2), a, n)
}

// TestOwnKnowledge: a debater that succeeds is right whatever it reads.
func TestOwnKnowledge(t *testing.T) {
	const n = 100_000
	toy := NewToy()
	toy.Models, toy.Abilities, toy.Difficulty, toy.Luck = 2, []float64{.2, .3, .6, .7}, 0, 0
	toy.Train, toy.Test = n, 1
	split, err := toy.Build(system(t, "debate", func(p SystemParams) { p.(*Debate).Knowledge = "own" }), Env{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	right := make([]uint64, wordsOf(n))
	if err := split.Train.Right([]int32{0, 0, 0, 1, 1, 1}, right); err != nil {
		t.Fatal(err)
	}
	near(t, share(right)/n, 1-(1-.2)*(1-.7), n)
}

// TestDrawnAbilities holds means, variances and covariances of abilities over
// many models against U + N, far from the bounds.
func TestDrawnAbilities(t *testing.T) {
	const n = 1000
	toy := NewToy()
	toy.Models, toy.Prompts, toy.GeneralLow, toy.GeneralHigh, toy.Specialty, toy.PromptSpread = n, 2, .5, .7, .05, .04
	var generate, judge, prompts []float64
	for k := range 40 {
		p, err := toy.pool(system(t, "debate"), Env{Seed: 6, Pool: k})
		if err != nil {
			t.Fatal(err)
		}
		for m := range n {
			g := p.abilities["generate"]
			generate = append(generate, g[2*m])
			prompts = append(prompts, g[2*m+1]-g[2*m])
			judge = append(judge, p.abilities["judge"][2*m])
		}
	}
	mean := func(x []float64) (sum float64) {
		for _, v := range x {
			sum += v / float64(len(x))
		}
		return sum
	}
	covariance := func(x, y []float64) (sum float64) {
		a, b := mean(x), mean(y)
		for i := range x {
			sum += (x[i] - a) * (y[i] - b) / float64(len(x))
		}
		return sum
	}
	const level = .2 * .2 / 12
	for _, c := range []struct {
		what      string
		got, want float64
		within    float64
	}{
		{"mean at generating", mean(generate), .6, .002},
		{"mean at judging", mean(judge), .4, .002},
		{"mean of a prompt's effect", mean(prompts), 0, .001},
		{"variance", covariance(generate, generate), level + .05*.05, .0002},
		{"variance of judges", covariance(judge, judge), level + .05*.05, .0002},
		{"covariance of skills", covariance(generate, judge), level, .0002},
		{"variance of a prompt's effect", covariance(prompts, prompts), .04 * .04, .0001},
		{"covariance of prompt and model", covariance(prompts, generate), 0, .0001},
	} {
		if math.Abs(c.got-c.want) > c.within {
			t.Errorf("%s: %.5f, want %.5f +- %.5f", c.what, c.got, c.want, c.within)
		}
	}
}

// TestWorldIsAFunction: the same parameters give the same world; more models,
// questions or other replications leave what they should.
func TestWorldIsAFunction(t *testing.T) {
	g := system(t, "debate")
	build := func(env Env, set func(*Toy)) (*pool, *sample) {
		toy := NewToy()
		set(toy)
		p, err := toy.pool(g, env)
		if err != nil {
			t.Fatal(err)
		}
		return p, p.ask("train", toy.Train)
	}
	env := Env{Seed: 3, Replication: 2, Pool: 1}
	p, s := build(env, func(*Toy) {})
	q, again := build(env, func(*Toy) {})
	if !reflect.DeepEqual(p.abilities, q.abilities) || !reflect.DeepEqual(s, again) {
		t.Error("the same parameters give another world")
	}
	q, more := build(env, func(t *Toy) { t.Models, t.Train = 7, 256 })
	for _, skill := range p.skills {
		if !slices.Equal(p.abilities[skill], q.abilities[skill][:5]) {
			t.Errorf("two more models change abilities at %s", skill)
		}
		for c, set := range s.talents[skill].succeeds {
			if !slices.Equal(set[:3], more.talents[skill].succeeds[c][:3]) {
				t.Errorf("more models and questions change the answers of %d at %s", c, skill)
			}
		}
	}
	q, other := build(Env{Seed: 3, Replication: 3, Pool: 1}, func(*Toy) {})
	if !reflect.DeepEqual(p.abilities, q.abilities) || reflect.DeepEqual(s.talents, other.talents) {
		t.Error("another replication wants the same models and other questions")
	}
	q, _ = build(Env{Seed: 3, Replication: 2, Pool: 2}, func(*Toy) {})
	if reflect.DeepEqual(p.abilities, q.abilities) {
		t.Error("another pool has the same models")
	}
}

func TestCandidatesArePairs(t *testing.T) {
	toy := NewToy()
	toy.Models, toy.Prompts, toy.Train, toy.Test = 3, 2, 100, 1
	modules := []Module{{Name: "a", Reads: []string{Query}, Models: []string{"B", "C"}}, {Name: "b", Reads: []string{"a"}}}
	g, err := NewGraph(modules, "")
	if err != nil {
		t.Fatal(err)
	}
	split, err := toy.Build(g, Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := split.Train
	if w.Candidates(0) != 4 || w.Candidates(1) != 6 || w.Label(0, 0) != "B/p1" || w.Label(1, 5) != "C/p2" {
		t.Errorf("%d and %d candidates, first %s, last %s", w.Candidates(0), w.Candidates(1), w.Label(0, 0), w.Label(1, 5))
	}
	if got := w.Singles(); !reflect.DeepEqual(got, [][]int32{{0, 2}, {1, 3}, {2, 4}, {3, 5}}) {
		t.Errorf("singles %v", got)
	}
	modules[0].Models = []string{"D"}
	if g, err = NewGraph(modules, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := toy.Build(g, Env{}); err == nil || !strings.Contains(err.Error(), `no model "D"`) {
		t.Errorf("a model that is none: %v", err)
	}
	toy.Abilities = []float64{.5}
	if _, err := toy.Build(g, Env{}); err == nil || !strings.Contains(err.Error(), "12: skills [a b]") {
		t.Errorf("one ability: %v", err)
	}
}
