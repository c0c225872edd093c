package compound

import "math/bits"

// Skill returns what a decision asks of its models.
func (w *World) Skill(module int) string {
	return w.graph.modules[w.graph.decisions[module]].Skill
}

// Succeeds returns the share of the questions on which a candidate succeeds at
// the skill of a decision; of a critic, with other models' answers.
func (w *World) Succeeds(module int, candidate int32) float64 {
	set := w.skills[w.graph.decisions[module]].succeeds[w.lists[module][candidate]]
	n := 0
	for _, word := range set {
		n += bits.OnesCount64(word)
	}
	return float64(n) / float64(w.questions)
}

// Ability returns the chance that Succeeds is a sample of; ok is false where the
// questions are fixed.
func (w *World) Ability(module int, candidate int32) (ability float64, ok bool) {
	of, ok := w.sample.abilities[w.Skill(module)]
	if !ok {
		return 0, false
	}
	return of[w.lists[module][candidate]], true
}

// CostOf returns the dollars of a question that a candidate costs at a decision.
func (w *World) CostOf(module int, candidate int32) float64 { return w.costs[module][candidate] }

// Priced reports whether anything costs something.
func (w *World) Priced() bool {
	for _, list := range w.costs {
		for _, cost := range list {
			if cost > 0 {
				return true
			}
		}
	}
	return false
}
