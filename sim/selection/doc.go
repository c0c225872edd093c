// Package selection chooses a candidate (a model, or a model with a prompt) for
// each module of a compound AI system.
//
// # Model
//
// A World answers N labelled questions under an allocation f of candidates to
// its L modules, with a score P(f, z) in [0, 1] a question z and a cost of
// dollars a question. The same allocation always answers the same. With
//
//	accuracy(f) = mean over z of P(f, z)
//	value(f)    = accuracy(f) - lambda * cost(f)
//
// an Optimiser looks for an allocation of high value; Optimisers lists them. They
// differ in what they ask. Greedy, random, exhaustive and single compare
// accuracies. LLMSelector (Chen et al., arXiv:2502.14815) nominates one module
// after the other and lets each question approve of the candidates k with the
// highest score
//
//	alpha * (1 - blame(f with k, module, z)) + gamma * P(f with k, z)
//
// where a Diagnoser blames modules for wrong answers: so it can leave an
// allocation from which no single change improves accuracy. Approvals of all
// questions are added up. As long as nobody is blamed for right answers, scores
// 0 and 1 give every gamma > 0 the same run, and alpha = 0 is coordinate ascent.
//
// # Assumptions
//
// Theorem 4.1 of that paper promises the best allocation after L rounds if
// scores are binary, each module's candidates rank the same whatever stands at
// the others, a better module makes no answer worse, and each question has one
// best allocation. A search that keeps one allocation for all questions, as the
// released code does, needs more: that the candidates which most questions want
// module by module are together the best allocation. Assess measures how often
// worlds violate the two conditions of order.
//
// # Budgets
//
// An evaluation is one allocation on all questions. An Outcome counts them three
// ways: until the returned allocation first stood, until the run ended, and as
// the released code counts (K-1 a round). Beside them stand what a cache would
// leave to pay for, the diagnoser's verdicts, and dollars. A run that does not
// converge is a result too; it says why it ended.
//
// Worlds that hold accuracies alone serve the optimisers that need no more; the
// others refuse them with ErrNoScores. A world that may pay no more returns
// ErrBudget, and the run returns what it has.
//
// # Cost
//
// A penalty (Problem.Lambda), a limit on what an allocation costs (Problem.Cap)
// and a limit on what the search itself spends (Problem.Dollars) work in every
// optimiser. Cheapen walks down from where a run converged. ByPenalty, ByPrice,
// CheapestWithin and ByBudget choose among evaluated Points; Front is their
// accuracy-cost front with intervals.
//
// # Invariants
//
// A run is a function of its Problem: random draws come from its stream alone,
// and the state of a shared Cache changes no result, only the work. Ties are
// broken by the rule that each optimiser states. Evaluating an allocation that
// the cache holds allocates nothing.
//
// # Example
//
//	cache, _ := selection.NewCache(world)
//	noise := rng.New(1, 0, "diagnoser")
//	oracle, _ := (&selection.Oracle{Accuracy: .8, Noise: "fixed"}).Diagnoser(cache, noise)
//	entry, _ := selection.Find("llmselector")
//	optimiser := entry.New()
//	param.Defaults(optimiser)
//	out, _ := optimiser.Run(selection.Problem{
//		World: cache, Diagnoser: oracle, Budget: 1000, Stream: rng.New(1, 0, "selection")})
//	fmt.Println(out.Assignment, out.Accuracy, out.FirstHit, out.Evaluations, out.Converged)
package selection
