package aggregate

import (
	"fmt"
	"io"

	"switchyard/stages/experiment"
	"switchyard/stages/stats"
)

// clairvoyant is the policy that no real router can be: it knows everything.
const clairvoyant = "clairvoyant"

// lowerBound is the column of the mean latency below which no router can come.
const lowerBound = "e2e_bound_us"

// printBounds says between what the possible gain of a router lies, where a
// point has clairvoyant routers: no router comes below the lower bound, and
// what the best clairvoyant one reaches can be reached by knowing enough.
// Saturated configurations count for neither.
func (p *point) printBounds(w io.Writer, list []ranked, unit string, scale float64) {
	var knows, real *ranked
	for i := range list {
		r := &list[i]
		switch {
		case r.class() != 0:
		case r.policy == clairvoyant && knows == nil:
			knows = r
		case r.policy != clairvoyant && real == nil:
			real = r
		}
	}
	if p.job != experiment.Simulate || !p.has(clairvoyant) {
		return
	}
	bound := stats.Mean(present(list[0].of(lowerBound)))
	text := "mean E2E:"
	if bound > 0 {
		text += fmt.Sprintf(" lower bound %.3g %s,", bound*scale, unit)
	}
	say := func(what string, r *ranked) string {
		if r == nil {
			return what + " saturated"
		}
		return fmt.Sprintf("%s %.3g %s (%s)", what, r.level*scale, unit, r.RouterPoint)
	}
	text += " " + say("best clairvoyant", knows) + ", " + say("best other", real)
	if real != nil && bound > 0 {
		least := 0.0
		if knows != nil {
			least = max(0, 1-knows.level/real.level)
		}
		text += fmt.Sprintf("; a better router would gain %.0f %% to %.0f %%", 100*least, 100*(1-bound/real.level))
	}
	wrap(w, "", text)
}

// has reports whether a policy competes at the point.
func (p *point) has(policy string) bool {
	for _, c := range p.configs {
		if c.policy == policy {
			return true
		}
	}
	return false
}
