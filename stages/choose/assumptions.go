package choose

import (
	"switchyard/sim/rng"
	"switchyard/sim/selection"
)

// judgeAssumptions fills in how often the assumptions of LLMSelector are broken,
// on the training questions.
func (r *WorldRow) judgeAssumptions(p *pool, space *selection.Space, contexts int, at sample) error {
	r.Contexts = "none"
	if contexts == 0 {
		return nil
	}
	// Where all contexts are not many more than would be drawn, all are compared.
	limit := 10 * contexts
	shares, err := selection.Assess(p.train, selection.Survey{
		Limit: limit, Draws: contexts, Stream: rng.New(at.seed, at.replication, at.name("contexts")),
	})
	if err != nil {
		return err
	}
	r.Contexts = "drawn"
	if space.AtMost(uint64(limit)) {
		r.Contexts = "all"
	}
	for _, s := range shares {
		share, lo, hi := finite(s.Share), finite(s.Lo), finite(s.Hi)
		switch s.Assumption {
		case selection.Within:
			r.Within, r.WithinLo, r.WithinHi = share, lo, hi
		case selection.Between:
			r.Between, r.BetweenLo, r.BetweenHi = share, lo, hi
		case selection.Reversed:
			r.Reversed = share
		case selection.Answers:
			r.Answers, r.AnswersLo, r.AnswersHi = share, lo, hi
		case selection.Ranking:
			r.Ranking = share
		}
	}
	return nil
}
