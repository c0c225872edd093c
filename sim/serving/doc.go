// Package serving turns a compound system into traffic, and serves it on a
// cluster a model: from an assignment of models to modules follow calls, from
// calls requests, and from requests the time that a question takes.
//
// # From a graph to requests
//
// A question is a session. A module with an LLM makes one request a call; its
// calls follow each other, the first when the last calls of all modules that it
// reads have ended. Modules without an LLM (votes) take no time, so whoever
// reads them waits for what they read. A question ends with its last call:
//
//	latency(q) = max over its calls of the end - the arrival of q
//
// What a module calls may depend on the question: a cascade asks one model
// after another with the same prompt, a router one of several. Who says which.
//
// # Lengths
//
// A call of module m has
//
//	prompt = template(m) + question(q) [if m reads the question] + rest,   output
//
// tokens. The template is a fixed share of the module's mean prompt, the same in
// all calls of modules with one rule and skill. The question has one length
// wherever it is read. Rest and output vary from call to call, with the
// module's means (compound.Usage): lognormal with a given spread, or in the
// proportions of recorded requests. Calls that are no whole number a question
// are rounded up or down at random, in the mean to what they are.
//
// All that is drawn is a function of (seed, replication, question, module, call)
// and not of the assignment, so that assignments are compared on the same
// questions, lengths and arrivals.
//
// # Prefixes
//
// A prompt begins with its template (or with the question), which caches may
// hold from other questions (or from other modules with the same model). What a
// module reads of others stands in the rest, which no two calls share.
//
// # A budget of GPUs
//
// Each model has replicas of its own, each on so many GPUs. A split says how
// many replicas each model gets; Search tries the splits of a budget to which no
// replica can be added, all of them where they are few, else from the one in
// proportion to the load by exchanges for as long as they help.
//
// # Assumptions
//
// Calls carry no network and no time outside the model. Replicas of a model are
// equal, and models share no GPU. Outputs are as long whichever model gives them.
//
//	t, err := serving.Draw(serving.Modules(graph), lengths, starts, stream)
//	calls, err := t.Calls(func(q, module int, to []int32) []int32 { return append(to, pool[module]) })
//	...
//	run, err := fleet.Run(sim, calls, split, seed, replication)
//	times := calls.Latencies(run)
package serving
