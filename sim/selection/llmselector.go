package selection

var llmselectorEntry = Entry{
	Name:        "llmselector",
	Summary:     "nominates the modules in turn; each question approves of the candidates that a diagnoser blames least, and most approvals win",
	Ties:        "the candidate that a question approved of first, in order of questions and candidates; or listed, or incumbent",
	Stop:        "the last L+1 allocations are equal (L in February 2025), or the budget is out",
	Source:      "Chen et al., Optimizing Model Selection for Compound AI Systems, arXiv:2502.14815, Algorithm 1; OptimizerLLMDiagnoser of the released code, February and September 2025",
	NeedsScores: true,
	Starts:      true,
	New:         func() Optimiser { return new(LLMSelector) },
}

// LLMSelector is the round-robin selector of the paper and of its code.
//
// Compat paper: the diagnoser always speaks (alpha 1), a round costs K, only
// decisions are nominated, and L+1 equal allocations end the run. The released
// code leaves the diagnoser out by default (alpha 0: with right and wrong
// answers that is coordinate ascent on accuracy), counts K-1 a round, and also
// nominates modules without a language model, for which all K candidates tie;
// September's stops like the paper, February's at L equal allocations. The
// paper says mode over questions, the code counts approvals; the count serves
// all three.
//
// The code's other defaults are not kept: it starts every run from the same
// allocation, since it never stores its seed, and knows no cap on rounds.
type LLMSelector struct {
	Compat   string  `yaml:"compat" default:"paper" enum:"paper|feb2025|sept2025" doc:"whose rules of stop, budget, nominees and default alpha"`
	Alpha    float64 `yaml:"alpha" default:"-1" min:"-1" doc:"weight of the diagnoser's verdict; -1 takes the default of compat: 1 for paper, 0 (no diagnoser) for the code"`
	Gamma    float64 `yaml:"gamma" default:"1" min:"0" doc:"weight of the answer's score; beta in the code"`
	Ties     string  `yaml:"ties" default:"inserted" enum:"inserted|listed|incumbent" doc:"who wins among equal counts: first approved (as the code), lowest number, or the incumbent if it is among them"`
	Nominate string  `yaml:"nominate" default:"compat" enum:"compat|decisions|all" doc:"whether modules without a language model are nominated too; compat: not in the paper, yes in the code"`
	Rounds   int     `yaml:"rounds" default:"200" min:"0" unit:"rounds" doc:"cap on rounds; 0 means none"`
	Patience int     `yaml:"patience" default:"0" min:"0" unit:"rounds" doc:"end after so many rounds without a more accurate allocation, and return the best; 0 means never"`
	Keep     string  `yaml:"keep" default:"last" enum:"last|best" doc:"which allocation is returned: the last, or the most accurate that was evaluated"`
}

// Run implements Optimiser.
func (s *LLMSelector) Run(p Problem) (Outcome, error) {
	const name = "llmselector"
	l, err := open(name, p, true)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.begin(name); err != nil {
		return Outcome{}, err
	}
	return s.ascend(l, name)
}

// Asks implements Asker.
func (s *LLMSelector) Asks() bool {
	_, alpha := s.weights()
	return alpha != 0
}

func (s *LLMSelector) code() bool { return s.Compat == "feb2025" || s.Compat == "sept2025" }

// weights returns gamma and alpha. An alpha of zero silences the diagnoser.
func (s *LLMSelector) weights() (gamma, alpha float64) {
	if s.Alpha >= 0 {
		return s.Gamma, s.Alpha
	}
	if s.code() {
		return s.Gamma, 0
	}
	return s.Gamma, 1
}

// idle returns how many modules without a language model are nominated.
func (s *LLMSelector) idle(w World) int {
	if u, ok := w.(Idle); ok && (s.Nominate == "all" || s.Nominate != "decisions" && s.code()) {
		return u.Idle()
	}
	return 0
}

// equal returns how many equal allocations at the end of the history, the
// start included, mean convergence.
func (s *LLMSelector) equal(nodes int) int {
	if s.Compat == "feb2025" {
		return nodes
	}
	return nodes + 1
}

// ascent is the state of a run.
type ascent struct {
	*ledger
	ballot *ballot
	idlers []int32 // what stands at the modules without a language model
	same   int     // equal entries at the end of the history
	best   int32   // slot of the most valuable allocation so far, or -1
	hit    int     // evaluations when it was found
	stale  int     // rounds since it was found
}

// ascend runs from the ledger's incumbent.
func (s *LLMSelector) ascend(l *ledger, name string) (Outcome, error) {
	gamma, alpha := s.weights()
	if alpha != 0 && l.Diagnoser == nil {
		return l.finish(name, "", ErrNoDiagnoser)
	}
	a := &ascent{ledger: l, ballot: newBallot(l, gamma, alpha), same: 1, best: -1}
	a.idlers = make([]int32, s.idle(l.world))
	for i := range a.idlers {
		if l.Start == nil {
			a.idlers[i] = int32(l.Stream.IntN(int(l.space.sizes[0])))
		}
	}
	start := append([]int32(nil), l.current...)
	stop, err := s.rounds(a)
	if (s.Keep == "best" || stop == StopPatience) && a.best >= 0 {
		copy(l.current, l.allocAt(a.best))
		o, err := l.finish(name, stop, err)
		o.FirstHit = a.hit
		return o, err
	}
	o, err := l.finish(name, stop, err)
	o.FirstHit = l.firstHit(start)
	return o, err
}

// rounds nominates module after module until a rule ends the run.
func (s *LLMSelector) rounds(a *ascent) (Stop, error) {
	nodes := a.modules + len(a.idlers)
	spent := 0 // as compat counts
	for round := 0; ; round++ {
		node := round % nodes
		price := int(a.space.sizes[node%a.modules])
		if node >= a.modules {
			price = int(a.space.sizes[0])
		}
		code := price - 1
		if s.code() {
			price = code
		}
		switch {
		case s.Patience > 0 && a.stale >= s.Patience:
			return StopPatience, nil
		case s.Rounds > 0 && round == s.Rounds:
			return StopRounds, nil
		case spent+price > a.Budget:
			return StopBudget, nil
		}
		moved, err := s.round(a, node)
		if err != nil {
			return "", err
		}
		spent += price
		a.out.CodeBudget += code
		if a.same++; moved {
			a.same = 1
		}
		if a.same >= s.equal(nodes) {
			return StopConverged, nil
		}
	}
}

// round decides on one node.
func (s *LLMSelector) round(a *ascent, node int) (moved bool, err error) {
	a.stale++
	if node >= a.modules {
		return s.idleRound(a, node)
	}
	if err := a.ballot.hold(node); err != nil {
		return false, err
	}
	incumbent := a.current[node]
	winner, tied := a.ballot.winner(s.Ties, incumbent)
	a.current[node] = winner
	for _, slot := range a.ballot.slots {
		if a.best < 0 || a.value(slot) > a.value(a.best) {
			a.best, a.stale, a.hit = slot, 0, a.evaluations()
		}
	}
	a.record(Round{Module: node, Votes: append([]int32(nil), a.ballot.votes...), Values: append([]float64(nil), a.ballot.values...),
		Incumbent: incumbent, Winner: winner, Tied: tied})
	return winner != incumbent, nil
}

// idleRound decides on a module without a language model: whatever stands
// there, the answers are the same, so every question approves of everyone and
// the first of the list wins. The code pays for it all the same.
func (s *LLMSelector) idleRound(a *ascent, node int) (moved bool, err error) {
	k := a.space.sizes[0]
	for range k {
		if _, err := a.eval(a.current); err != nil {
			return false, err
		}
	}
	at := &a.idlers[node-a.modules]
	incumbent, winner := *at, int32(0)
	if s.Ties == "incumbent" {
		winner = incumbent
	}
	*at = winner
	votes := make([]int32, k)
	for i := range votes {
		votes[i] = int32(a.questions)
	}
	if _, alpha := s.weights(); alpha != 0 {
		a.out.DiagnoserCalls += int64(k) * int64(a.questions)
	}
	a.record(Round{Module: node, Votes: votes, Incumbent: incumbent, Winner: winner, Tied: int(k)})
	return winner != incumbent, nil
}
