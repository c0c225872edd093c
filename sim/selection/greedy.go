package selection

import "slices"

var greedyEntry = Entry{
	Name:    "greedy",
	Summary: "coordinate ascent on end-to-end accuracy: module after module, or always the best single change",
	Ties:    "round robin: the incumbent, or listed; steepest: moves on a strict gain alone, to the first of equal changes in the order of modules and candidates",
	Stop:    "round robin: no change for L rounds; steepest: no single change gains",
	Source:  "the baseline of Chen et al., arXiv:2502.14815, section 5 and figure 4; round robin is the released optimiser at alpha 0",
	Starts:  true,
	New:     func() Optimiser { return new(Greedy) },
}

// Greedy climbs by single changes.
//
// Round robin evaluates the K candidates of the next module, the incumbent
// among them, and is charged like LLMSelector. Steepest evaluates its start
// once and then, in each round, the other candidates of all modules; its rounds
// name the module that moved, or -1 when none did.
type Greedy struct {
	Ascent string `yaml:"ascent" default:"round-robin" enum:"round-robin|steepest" doc:"module after module, or the best of all single changes"`
	Ties   string `yaml:"ties" default:"incumbent" enum:"incumbent|listed" doc:"round robin: among equal candidates the incumbent stays, or the lowest number wins"`
}

// Run implements Optimiser.
func (g *Greedy) Run(p Problem) (Outcome, error) {
	const name = "greedy"
	l, err := open(name, p, false)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.begin(name); err != nil {
		return Outcome{}, err
	}
	start := slices.Clone(l.current)
	var stop Stop
	if g.Ascent == "steepest" {
		stop, err = steepest(l)
	} else {
		stop, err = g.robin(l)
	}
	o, err := l.finish(name, stop, err)
	o.FirstHit = l.firstHit(start)
	return o, err
}

func (g *Greedy) robin(l *ledger) (Stop, error) {
	alloc, values := slices.Clone(l.current), make([]float64, slices.Max(l.space.sizes))
	for module, unmoved := 0, 0; unmoved < l.modules; module = (module + 1) % l.modules {
		k := int(l.space.sizes[module])
		if l.evaluations()+k > l.Budget {
			return StopBudget, nil
		}
		values = values[:k]
		for i := range values {
			alloc[module] = int32(i)
			slot, err := l.eval(alloc)
			if err != nil {
				return "", err
			}
			values[i] = l.value(slot)
		}
		l.out.CodeBudget += k - 1
		incumbent := l.current[module]
		winner, tied := highest(values)
		if g.Ties != "listed" && values[incumbent] == values[winner] {
			winner = incumbent
		}
		l.current[module], alloc[module] = winner, winner
		if unmoved++; winner != incumbent {
			unmoved = 0
		}
		l.record(Round{Module: module, Values: slices.Clone(values), Incumbent: incumbent, Winner: winner, Tied: tied})
	}
	return StopConverged, nil
}

// highest returns the first of the highest values and how many share it.
func highest(values []float64) (at int32, tied int) {
	for i, v := range values {
		switch {
		case v > values[at]:
			at, tied = int32(i), 1
		case v == values[at]:
			tied++
		}
	}
	return at, tied
}

// change is a single change of the incumbent.
type change struct {
	module int
	to     int32
	value  float64
	tied   int
}

func steepest(l *ledger) (Stop, error) {
	slot, err := l.eval(l.current)
	if err != nil {
		return "", err
	}
	here, around := l.value(slot), 0
	for _, k := range l.space.sizes {
		around += int(k) - 1
	}
	alloc := slices.Clone(l.current)
	for {
		if l.evaluations()+around > l.Budget {
			return StopBudget, nil
		}
		best, err := bestChange(l, alloc, here)
		if err != nil {
			return "", err
		}
		l.out.CodeBudget += around
		r := Round{Module: best.module, Incumbent: -1, Winner: -1, Tied: best.tied}
		if best.module < 0 {
			l.record(r)
			return StopConverged, nil
		}
		r.Incumbent, r.Winner, r.Values = l.current[best.module], best.to, []float64{here, best.value}
		l.current[best.module], alloc[best.module] = best.to, best.to
		here = best.value
		l.record(r)
	}
}

// bestChange evaluates all single changes and returns the first of the best
// that gain, or module -1.
func bestChange(l *ledger, alloc []int32, here float64) (change, error) {
	best := change{module: -1, value: here}
	for module, k := range l.space.sizes {
		incumbent := alloc[module]
		for i := range k {
			if i == incumbent {
				continue
			}
			alloc[module] = i
			slot, err := l.eval(alloc)
			if err != nil {
				return best, err
			}
			switch v := l.value(slot); {
			case v > best.value:
				best = change{module: module, to: i, value: v, tied: 1}
			case v == best.value && best.module >= 0:
				best.tied++
			}
		}
		alloc[module] = incumbent
	}
	return best, nil
}
