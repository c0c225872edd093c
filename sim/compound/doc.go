// Package compound models compound AI systems: modules that read one another's
// outputs, each answered by a language model that has to be chosen.
//
// # Systems
//
// A Graph says who reads whom. A module without an LLM (a vote, a merge) is no
// decision; the others are numbered 0..L-1 in topological order, and an
// allocation gives each a candidate, which is a pair of a model and a prompt.
// Systems lists the graphs that have a name.
//
// # Toy worlds
//
// A toy world answers N questions. It follows latents: for model m with prompt
// p, skill s and question q,
//
//	z = rq d(q) + rm e(m,q) + sqrt(1 - rq^2 - rm^2) e(m,p,s,q)
//
// with d and e independent standard normal, and the model succeeds at the skill
// iff Phi(z) < ability(m,p,s), so that its ability is exactly its share of
// successes. The share rq is the difficulty that all models meet together, rm
// how far a model has good and bad days on a question whatever the skill.
// Modules with the same skill (the generators of a debate) share latents: the
// same model there answers the same.
//
// Answers are right, or one of the wrong answers 1..W. A model that errs always
// gives the same wrong answer to a question. What a module makes of what it
// reads is its Rule:
//
//	answer  right iff all answers that it reads are right and it succeeds
//	critic  reads one answer and flags it: a wrong one iff it succeeds, with its
//	        ability multiplied by SelfAgreement where the module that it reads has
//	        the same model; a right one by false alarm, with a fixed probability
//	refine  reads an answer and a critic's verdict. It passes an answer that is
//	        not flagged; a flagged one becomes right iff it succeeds
//	judge   right iff some answer that it reads is right and it succeeds; else it
//	        keeps the first that it reads. With own knowledge it needs no right
//	        answer to read
//	vote    no LLM: the most frequent of the answers that it reads, of equals the
//	        first seen
//	all     no LLM: right iff all are right, else the first wrong one
//	any     no LLM: right iff some is right, else the first
//
// Whether a module also reads the question plays no part in that. So
// locate-solve is two modules of rule answer, self-refine is answer, critic,
// refine, a debate is answers, judges and a vote.
//
// A module is to blame for a wrong answer of the system iff it failed itself:
// an answer or refine module that did not succeed; a critic that passed a wrong
// answer or flagged a right one; a judge that did not succeed though it read a
// right answer, or could have known one itself.
//
// Another prompt is another ability, and other luck at the skill; the rest of
// the latent is the model's.
//
// # Other worlds
//
// CaseStudy is a fixed world of 100 questions. Recorded answers from a table of
// allocations and questions, Averages knows the means of allocations alone, and
// Table is a small world written out, to meet or break assumptions on purpose.
//
// # Cost
//
// A question costs, over the modules with an LLM,
//
//	calls (price of a call + prompt tokens x input price + output tokens x output price)
//
// with Usage by module and Price by model. Every module is always called.
//
// # Invariants
//
// An outcome is a function of (allocation, question) alone, as with a cached
// LLM, and a world one of (seed, replication, pool). Abilities depend on (seed,
// pool), so that replications ask the same models other questions. More models,
// questions or skills disturb nothing that was drawn before.
//
// # Evaluation
//
// All questions are answered at once, 64 a machine word. World.Counts answers
// whole ranges of allocations and shares what modules did between them.
//
// # Example
//
//	p := new(compound.Debate)
//	param.Defaults(p) // three generators, three debaters, one round
//	g, err := p.Graph()
//	...
//	split, err := compound.NewToy().Build(g, compound.Env{Seed: 1, Replication: 1, Pool: 0})
//	...
//	counts := make([]int32, split.Train.Allocations())
//	err = split.Train.Counts(counts)
package compound
