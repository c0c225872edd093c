package aggregate

import (
	"fmt"
	"io"
	"math"

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
// Configurations that are saturated or served nothing count for neither, and
// what a router that turns requests away could gain is not known.
func (p *point) printBounds(w io.Writer, list []ranked, unit string, scale float64) {
	if p.job != experiment.Simulate || !p.has(clairvoyant) {
		return
	}
	knows, real := best(list, true), best(list, false)
	text := "mean E2E:"
	for i := range list {
		if bound := list[i].bound(); bound > 0 {
			text += fmt.Sprintf(" lower bound %.3g %s,", bound*scale, unit)
			break
		}
	}
	say := func(what string, r *ranked) string {
		switch {
		case r == nil:
			return "no " + what
		case r.class() == 0:
			return fmt.Sprintf("best %s %.3g %s (%s)", what, r.level*scale, unit, r.RouterPoint)
		case r.class() == 1:
			return "best " + what + " saturated"
		}
		return "best " + what + " served nothing"
	}
	text += " " + say("clairvoyant", knows) + ", " + say("other", real)
	if real != nil && real.class() == 0 && real.bound() > 0 {
		least := 0.0
		if knows.class() == 0 {
			least = max(0, 1-knows.level/real.level)
		}
		text += fmt.Sprintf("; a better router would gain %.0f %% to %.0f %%", 100*least, 100*max(0, 1-real.bound()/real.level))
	}
	wrap(w, "", text)
}

// best returns the first of a ranking that is clairvoyant, or that is not; nil
// where there is none.
func best(list []ranked, knowing bool) *ranked {
	for i := range list {
		if (list[i].policy == clairvoyant) == knowing {
			return &list[i]
		}
	}
	return nil
}

// bound is the configuration's lower bound on its mean latency, NaN where a
// replication has none.
func (c *configuration) bound() float64 {
	values := present(c.of(lowerBound))
	if len(values) < len(c.replications) {
		return math.NaN()
	}
	return stats.Mean(values)
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
