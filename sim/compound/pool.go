package compound

import (
	"fmt"
	"math"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// pool is a set of models with their abilities at the skills of a system.
type pool struct {
	toy        *Toy
	env        Env
	models     []string
	prompts    []string
	candidates []Candidate
	skills     []string
	critics    map[string]bool
	abilities  map[string][]float64 // by skill: by candidate
}

// Lowest and highest ability that is drawn.
const lowest, highest = .02, .98

// pool draws the models of a pool, or takes those that are given.
func (t *Toy) pool(g *Graph, env Env) (*pool, error) {
	p := &pool{toy: t, env: env, models: letters(t.Models), prompts: numbered("p", t.Prompts),
		skills: g.Skills(), critics: map[string]bool{}, abilities: map[string][]float64{}}
	for m := range t.Models {
		for n := range t.Prompts {
			p.candidates = append(p.candidates, Candidate{int32(m), int32(n)})
		}
	}
	judges := map[string]bool{}
	for _, i := range g.decisions {
		m := g.modules[i]
		judges[m.Skill] = judges[m.Skill] || m.Rule == Judge
		p.critics[m.Skill] = p.critics[m.Skill] || m.Rule == Critic
	}
	if n := len(t.Abilities); n > 0 && n != len(p.skills)*len(p.candidates) {
		return nil, &param.Error{Field: "abilities", Value: fmt.Sprintf("%d numbers", n),
			Expected: fmt.Sprintf("%d: skills %v times models times prompts", len(p.skills)*len(p.candidates), p.skills)}
	}
	for s, skill := range p.skills {
		if len(t.Abilities) > 0 {
			p.abilities[skill] = t.Abilities[s*len(p.candidates):][:len(p.candidates)]
			continue
		}
		penalty := 0.
		if judges[skill] {
			penalty = t.JudgePenalty
		}
		p.abilities[skill] = p.draw(skill, penalty)
	}
	return p, nil
}

// letters returns the names of models: A to Z, then M27, M28, ...
func letters(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("M%d", i+1)
		if i < 26 {
			names[i] = string(rune('A' + i))
		}
	}
	return names
}

// stream returns a stream of the pool: the same for all replications.
func (p *pool) stream(format string, args ...any) *rng.Stream {
	return rng.New(p.env.Seed, 0, fmt.Sprintf("compound/pool/%d/", p.env.Pool)+fmt.Sprintf(format, args...))
}

// draw returns the abilities of all candidates at a skill.
func (p *pool) draw(skill string, penalty float64) []float64 {
	t := p.toy
	levels, specialties := p.stream("levels"), p.stream("specialties/%s", skill)
	effects := make([]*rng.Stream, t.Prompts)
	for n := range effects {
		effects[n] = p.stream("prompts/%s/%d", skill, n)
	}
	var abilities []float64
	for range t.Models {
		level := t.GeneralLow + float64((t.GeneralHigh-t.GeneralLow)*levels.Float64())
		mean := level + float64(t.Specialty*specialties.Normal()) - penalty
		for n := range t.Prompts {
			ability := mean
			if n > 0 {
				ability += float64(t.PromptSpread * effects[n].Normal())
			}
			abilities = append(abilities, min(highest, max(lowest, ability)))
		}
	}
	return abilities
}

// ask has the pool's models answer n questions of a set.
func (p *pool) ask(set string, n int) *sample {
	s := &sample{models: p.models, prompts: p.prompts, candidates: p.candidates, questions: n,
		wrongs: p.toy.Wrong, talents: map[string]*talent{}, abilities: p.abilities}
	stream := func(format string, args ...any) *rng.Stream {
		return rng.New(p.env.Seed, p.env.Replication, fmt.Sprintf("compound/pool/%d/%s/", p.env.Pool, set)+fmt.Sprintf(format, args...))
	}
	difficulty := normals(stream("difficulty"), n)
	shared := make([][]float64, len(p.models))
	for m := range shared {
		shared[m] = normals(stream("luck/%d", m), n)
		for q, d := range difficulty {
			shared[m][q] = float64(p.toy.Difficulty*d) + float64(p.toy.Luck*shared[m][q])
		}
		s.wrong = append(s.wrong, errs(stream("wrong/%d", m), n, p.toy.Wrong))
	}
	for _, skill := range p.skills {
		s.talents[skill] = p.talent(skill, shared, n, stream)
	}
	return s
}

// talent answers n questions at one skill.
func (p *pool) talent(skill string, shared [][]float64, n int, stream func(string, ...any) *rng.Stream) *talent {
	t := &talent{}
	weight := math.Sqrt(max(0, 1-p.toy.Difficulty*p.toy.Difficulty-p.toy.Luck*p.toy.Luck))
	for c, each := range p.candidates {
		own := stream("skill/%s/%d/%d", skill, each.Model, each.Prompt)
		ability := p.abilities[skill][c]
		most, alone := quantile(ability), quantile(ability*p.toy.SelfAgreement)
		succeeds, finds := make([]uint64, wordsOf(n)), make([]uint64, wordsOf(n))
		for q, z := range shared[each.Model] {
			if weight > 0 {
				z += float64(weight * own.Normal())
			}
			set(succeeds, q, z < most)
			set(finds, q, z < alone)
		}
		t.succeeds = append(t.succeeds, succeeds)
		if p.critics[skill] {
			t.alone = append(t.alone, finds)
		}
	}
	if p.critics[skill] {
		for m := range p.models {
			t.alarms = append(t.alarms, alarms(stream("alarms/%s/%d", skill, m), n, p.toy.FalseAlarm))
		}
	}
	return t
}

func set(bits []uint64, q int, on bool) {
	if on {
		bits[q>>6] |= 1 << (q & 63)
	}
}

func normals(s *rng.Stream, n int) []float64 {
	z := make([]float64, n)
	for q := range z {
		z[q] = s.Normal()
	}
	return z
}

// errs returns the wrong answer, from 1 to wrongs, that a model gives to each
// question, in planes; beyond the last question it is 1.
func errs(s *rng.Stream, n, wrongs int) []uint64 {
	words, planes := wordsOf(n), planesOf(wrongs)
	out := make([]uint64, planes*words)
	for q := range words * 64 {
		answer := 1
		if q < n {
			answer = 1 + s.IntN(wrongs)
		}
		for b := range planes {
			set(out[b*words:], q, answer>>b&1 == 1)
		}
	}
	return out
}

func alarms(s *rng.Stream, n int, share float64) []uint64 {
	out := make([]uint64, wordsOf(n))
	for q := range n {
		set(out, q, s.Float64() < share)
	}
	return out
}

// quantile is the standard normal quantile: Phi(z) < p iff z < quantile(p).
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
