package selection

import (
	"math"
	"slices"
)

var banditEntry = Entry{
	Name:        "bandit",
	Summary:     "coordinate ascent in which each round is a race: candidates answer batches of questions and drop out once they are surely behind",
	Ties:        "the incumbent, else the candidate with the lowest number",
	Stop:        "no change for L rounds, or the budget is out",
	Source:      "successive elimination (Even-Dar, Mannor and Mansour, JMLR 2006) on paired differences, as Hoeffding races (Maron and Moore, 1994)",
	NeedsScores: true,
	Starts:      true,
	Draws:       true,
	New:         func() Optimiser { return new(Bandit) },
}

// Bandit is successive elimination over the candidates of one module at a time,
// in turn, with the other modules as they stand.
//
// All runs on a world see the questions in one random order. After n of N
// questions candidate k, behind the leader by a mean of d per question, drops
// out if d exceeds the radius of Hoeffding's bound for differences in [-1, 1],
//
//	r(n) = sqrt(2 ln(2 K B / delta) / n),
//
// with B batches, so that a round drops its best candidate with a probability
// of at most delta. When the questions are out the most accurate survivor wins.
// Where costs
// matter, value takes accuracy's place.
type Bandit struct {
	Delta float64 `yaml:"delta" default:"0.1" min:"1e-9" max:"0.999" unit:"probability" doc:"chance that a round drops its best candidate"`
	Batch int     `yaml:"batch" default:"25" min:"1" unit:"questions" doc:"questions between two looks"`
}

// Run implements Optimiser.
func (b *Bandit) Run(p Problem) (Outcome, error) {
	const name = "bandit"
	l, err := open(name, p, true)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.needStream(name); err != nil {
		return Outcome{}, err
	}
	if err := l.begin(name); err != nil {
		return Outcome{}, err
	}
	start := slices.Clone(l.current)
	r := &race{ledger: l, Bandit: b, order: l.permutation(), set: make([]uint64, l.words), alloc: slices.Clone(l.current)}
	stop, err := r.ascend()
	o, err := l.finish(name, stop, err)
	o.FirstHit = l.firstHit(start)
	return o, err
}

// permutation returns the questions in random order.
func (l *ledger) permutation() []int32 {
	order := make([]int32, l.questions)
	for i := range order {
		order[i] = int32(i)
	}
	for i := len(order) - 1; i > 0; i-- {
		j := l.Stream.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// race is one run of Bandit.
type race struct {
	*ledger
	*Bandit
	order []int32
	set   []uint64
	alloc []int32
	sums  []float64 // of scores, by candidate
	fees  []float64 // for cost, by candidate
	alive []int32
}

func (r *race) ascend() (Stop, error) {
	for module, unmoved := 0, 0; unmoved < r.modules; module = (module + 1) % r.modules {
		k := int(r.space.sizes[module])
		if r.evaluations()+k > r.Budget {
			return StopBudget, nil
		}
		if err := r.run(module, k); err != nil {
			return "", err
		}
		incumbent := r.current[module]
		winner, tied := r.leader(incumbent)
		r.out.CodeBudget = r.evaluations()
		r.current[module], r.alloc[module] = winner, winner
		if unmoved++; winner != incumbent {
			unmoved = 0
		}
		r.record(Round{Module: module, Incumbent: incumbent, Winner: winner, Tied: tied})
	}
	return StopConverged, nil
}

// run has the candidates of a module race over the questions.
func (r *race) run(module, k int) error {
	r.sums, r.fees, r.alive = make([]float64, k), make([]float64, k), r.alive[:0]
	for i := range int32(k) {
		r.alive = append(r.alive, i)
	}
	batches := (r.questions + r.Batch - 1) / r.Batch
	bound := 2 * math.Log(float64(2*k*batches)/r.Delta)
	for n := 0; n < r.questions && len(r.alive) > 1; {
		list := r.order[n:min(n+r.Batch, r.questions)]
		n += len(list)
		if err := r.answer(module, list); err != nil {
			return err
		}
		r.drop(float64(n), math.Sqrt(bound/float64(n)))
	}
	return nil
}

// answer has the survivors answer a batch.
func (r *race) answer(module int, list []int32) error {
	members(r.set, list)
	defer func() { r.alloc[module] = r.current[module] }()
	for _, i := range r.alive {
		r.alloc[module] = i
		scores, err := r.scoresOf(r.alloc, list, r.set)
		if err != nil {
			return err
		}
		for _, s := range scores {
			r.sums[i] += float64(s)
		}
		if r.priced() {
			cost, err := r.world.Cost(r.alloc)
			if err != nil {
				return err
			}
			r.fees[i] = r.fee(cost)
		}
	}
	return nil
}

// drop removes those surely behind after n questions. Costs are known, so the
// radius concerns the scores alone.
func (r *race) drop(n, radius float64) {
	best := math.Inf(-1)
	for _, i := range r.alive {
		best = max(best, r.sums[i]/n-r.fees[i])
	}
	r.alive = slices.DeleteFunc(r.alive, func(i int32) bool { return best-(r.sums[i]/n-r.fees[i]) > radius })
}

// leader returns the best survivor; all have answered the same questions.
func (r *race) leader(incumbent int32) (winner int32, tied int) {
	n := float64(r.questions)
	winner = r.alive[0]
	for _, i := range r.alive {
		v, best := r.sums[i]/n-r.fees[i], r.sums[winner]/n-r.fees[winner]
		switch {
		case i == winner:
			tied = 1
		case v > best:
			winner, tied = i, 1
		case v == best:
			if tied++; i == incumbent {
				winner = i
			}
		}
	}
	return winner, tied
}

// members writes the set of a list of questions.
func members(set []uint64, list []int32) {
	clear(set)
	for _, q := range list {
		set[q/64] |= 1 << (q % 64)
	}
}
