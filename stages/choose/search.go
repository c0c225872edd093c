package choose

import (
	"context"
	"fmt"
	"slices"

	"switchyard/sim/rng"
	"switchyard/sim/selection"
	"switchyard/stages/stats"
)

// search runs an optimiser of assignments from each start of a pool.
func (b *batch) search(ctx context.Context, p *pool, known *survey, at sample) error {
	o, use := b.run.Config.optimiser, &b.run.Config.setting.world.use
	cache, err := selection.NewCache(p.train)
	if err != nil {
		return err
	}
	starts := [][]int32{nil}
	if o.repeats {
		starts = p.starts(use, at)
	}
	test := newJudge(p.last())
	for i, start := range starts {
		if err := ctx.Err(); err != nil {
			return err
		}
		problem := selection.Problem{
			World: cache, Start: start, Budget: o.search.Budget, Dollars: o.search.Dollars, Lambda: o.search.Lambda,
			Stream: rng.New(at.seed, at.replication, at.name(fmt.Sprintf("%s/%d", o.rule.Name, i+1))),
		}
		switch {
		case o.asks && p.diagnoser != nil:
			problem.Diagnoser = p.diagnoser
		case o.asks:
			noise := rng.New(at.seed, at.replication, at.name(fmt.Sprintf("noise/%d", i+1)))
			if problem.Diagnoser, err = o.search.Diagnoser.Diagnoser(cache, noise); err != nil {
				return err
			}
		}
		outcome, err := o.find(problem)
		if err != nil {
			return fmt.Errorf("start %d: %w", i+1, err)
		}
		row := b.row(p, known, at)
		if o.repeats {
			row.Start = int32(i + 1)
		}
		if o.starts {
			row.From = p.text(start)
		}
		if row.AccuracyTest, err = test.accuracy(outcome.Assignment); err != nil {
			return err
		}
		if p.after != nil {
			row.Warnings = append(slices.Clone(row.Warnings), p.after()...)
		}
		row.fill(p, &outcome)
		if timed, ok := p.last().(latent); ok {
			seconds, err := timed.Latency(outcome.Assignment)
			if err != nil {
				return err
			}
			row.Latency = finite(seconds)
		}
		row.compare(known)
		b.selections = append(b.selections, row)
		b.evaluations += int64(outcome.Evaluations)
		if b.plan.Experiment.Tables.Rounds {
			b.addRounds(p, &row, outcome.Rounds)
		}
	}
	return b.front(p, known, at)
}

// latent is implemented by worlds that know how long answers take.
type latent interface {
	Latency(alloc []int32) (float64, error)
}

// find runs the optimiser, and then gives up accuracy for cost where that is
// asked for.
func (o *optimiser) find(problem selection.Problem) (selection.Outcome, error) {
	found, err := o.params.(selection.Optimiser).Run(problem)
	if err != nil || o.search.Tolerance < 0 {
		return found, err
	}
	problem.Start = found.Assignment
	problem.Budget = max(0, problem.Budget-found.Evaluations)
	cheaper, err := selection.Cheapen(problem, o.search.Tolerance)
	if err != nil {
		return found, err
	}
	for _, r := range cheaper.Rounds {
		r.Evaluations += found.Evaluations
		found.Rounds = append(found.Rounds, r)
	}
	found.Assignment, found.Accuracy, found.Cost = cheaper.Assignment, cheaper.Accuracy, cheaper.Cost
	found.FirstHit = found.Evaluations + cheaper.FirstHit
	found.Evaluations += cheaper.Evaluations
	found.CodeBudget += cheaper.CodeBudget
	found.Distinct += cheaper.Distinct
	found.QuestionRuns += cheaper.QuestionRuns
	found.Dollars += cheaper.Dollars
	found.DollarsNoCache += cheaper.DollarsNoCache
	return found, nil
}

// row is the head of a selection, with what is known of its pool.
func (b *batch) row(p *pool, known *survey, at sample) SelectionRow {
	o := b.run.Config.optimiser
	row := SelectionRow{
		Where: b.where(at), Rule: o.rule.Name, Parameters: o.label,
		Modules: int32(len(p.modules)), Space: known.size, Train: int32(newJudge(p.train).questions()), Warnings: p.doubts,
	}
	if p.test != nil {
		row.Test = int32(p.test.Questions())
	}
	if s := known.single; s != nil {
		name := p.candidates[0][s.alloc[0]]
		row.Single, row.SingleTrain, row.SingleTest = &name, &s.train, &s.test
	}
	if s := known.optimum; s != nil {
		text := p.text(s.alloc)
		row.Optimum, row.OptimumTrain, row.OptimumTest = &text, &s.train, &s.test
	}
	return row
}

// fill takes over what a run found.
func (r *SelectionRow) fill(p *pool, o *selection.Outcome) {
	r.Assignment, r.Candidates, r.Models = p.text(o.Assignment), o.Assignment, p.distinct(o.Assignment)
	r.AccuracyTrain = o.Accuracy
	r.Evaluations, r.FirstHit, r.CodeBudget = int32(o.Evaluations), int32(o.FirstHit), int32(o.CodeBudget)
	r.Distinct, r.Diagnoses = int32(o.Distinct), o.DiagnoserCalls
	if p.priced {
		r.Cost, r.SelectCost, r.SelectUncach = &o.Cost, &o.Dollars, &o.DollarsNoCache
	}
	r.Converged, r.Stop, r.Rounds = o.Converged, string(o.Stop), int32(len(o.Rounds))
}

// compare fills in how the choice stands to what is known of its pool.
func (r *SelectionRow) compare(known *survey) {
	if s := known.single; s != nil {
		ahead := r.AccuracyTrain > s.train
		r.Gain, r.Ahead = finite(100*(r.AccuracyTest-s.test)), &ahead
	}
	if s := known.optimum; s != nil {
		same := r.AccuracyTrain >= s.train
		r.Regret, r.AtOptimum = finite(100*(s.test-r.AccuracyTest)), &same
	}
}

// addRounds writes the rounds of a run.
func (b *batch) addRounds(p *pool, run *SelectionRow, rounds []selection.Round) {
	for i := range rounds {
		r := &rounds[i]
		row := RoundRow{
			Where: run.Where, Start: run.Start, Round: int32(i + 1), Votes: r.Votes, Values: r.Values,
			Tied: int32(r.Tied), Evaluations: int32(r.Evaluations), Candidates: r.Assignment,
		}
		switch {
		case r.Module >= len(p.modules):
			name := "idle"
			row.Module = &name
		case r.Module >= 0:
			row.Module, row.Incumbent, row.Winner = &p.modules[r.Module], &p.candidates[r.Module][r.Incumbent], &p.candidates[r.Module][r.Winner]
		}
		b.rounds = append(b.rounds, row)
	}
}

// level is the confidence of every interval.
const level = 0.95

// interval is the Wilson interval of a share of so many questions.
func interval(share float64, questions int) (lo, hi *float64) {
	if questions == 0 {
		return nil, nil
	}
	in := stats.Wilson(share, float64(questions), level)
	return finite(in.Lo), finite(in.Hi)
}
