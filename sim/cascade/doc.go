// Package cascade chooses a model for each request on recorded outcomes: who
// would have answered how well, and what would the calls have cost?
//
// A Table holds the score s(q, m) in [0, 1] and the cost c(q, m) of every
// model m on every question q. A router, fitted on one table and applied to
// another, calls one or several models for a question; the last one answers.
// Over the n questions of a table
//
//	quality = 1/n sum over q of s(q, last model called)
//	cost    = 1/n sum over q of the sum of c(q, m) over all models called
//
// A router has settings (a threshold, a price, a budget) from cheap to dear,
// and so a curve of points (cost, quality). What follows is known of all:
//
//   - Quality is never above the oracle's, which takes the best score of each
//     question. At a mean cost of b or below it is never above Frontier, the
//     concave maximum of quality under a budget that knows every outcome.
//   - A random mix of two settings is any point of the line between them, so
//     that a router is worth its name only above the concave hull of the
//     single models (RouterBench's zero router).
//
// The routers, one a file: single models and random mixes of two; the oracle;
// a threshold on one score between a weak and a strong model (RouteLLM, Ong et
// al., 2024); predicted scores less a price times cost over many models
// (RouterBench, Hu et al., 2024); cascades that ask the next model
// where a scorer doubts the answer (FrugalGPT, Chen et al., 2023).
// Scores are predicted by logistic regression or nearest neighbours from what
// is known before the call, prompt length and dataset for example; a scorer of
// answers may also be the recorded score with errors (RouterBench).
//
// Assumptions: outcomes are fixed (a second call of a model would answer the
// same), calls of a cascade do not see each other's answers, and judging an
// answer costs nothing.
//
//	train, test := table.Split(0.5, rng.New(1, 1, "split"))
//	e, _ := cascade.Find("logistic")
//	p := e.New() // a tagged struct for package param
//	fitted, err := p.Fit(train, cascade.Env{Seed: 1})
//	curve, err := cascade.Curve(fitted, test)
//	gain := cascade.AIQ(curve, lo, hi)
package cascade
