// Package endpoint lets live language models answer: a compound system whose
// modules ask servers that speak the OpenAI protocol, as a world of package
// selection, and a model as the diagnoser of such a world. It is the only
// package that speaks HTTP.
//
// # From a question to a score
//
//  1. A system is a graph of package compound. Each of its modules with a model
//     has candidates: every model of the world that it may have, with every
//     prompt that it has. A vote is code.
//  2. A prompt is a Go template. It may name what the module reads and nothing
//     else: question and context columns where it reads the query, and the
//     outputs of the modules that it reads. Open tries each prompt.
//  3. Client.Ask returns the answer that is kept for (base URL, model,
//     parameters, messages, sample), by their SHA-256, or makes the call and
//     keeps its answer. Of modules with the same skill, such as the generators
//     of a debate, the n-th takes sample n; at temperature 0 all take the first.
//  4. A Metric scores the system's output against the reference. See Metrics and
//     Extractors; both follow LLMSelector's released code where they say so.
//
// # What is kept
//
// Answers is a file with one JSON record a line, to which lines are added and in
// which none is changed: key, what was asked, answer, tokens, latency, attempts
// and dollars. A second run makes no call and writes the same tables to the
// byte. A process that is killed loses the answers that were in flight and no
// other, so to interrupt a run twice does no harm. Goroutines and processes may
// share the file. Costs are computed from
// the tokens that are kept and the prices of the experiment file, so that new
// prices need no new answers. Where a server counts no tokens, 4 characters are
// one, and the rows say so.
//
// # When calls fail
//
// 408, 409, 425, 429, 5xx, time-outs, broken connections, streams that end early
// and replies that cannot be read are tried again after retry_wait_s x 2^(n-1),
// times between 1/2 and 1 (jitter from a named stream), or after what
// Retry-After asks, which holds back all calls to the server. Other refusals,
// and the last failure, fail the cell: a failure is no answer, and a search that
// went on with it would measure the network. The same command goes on from there.
//
// Limits bound attempts and dollars of one run over all cells and workers. A
// call is made only if its longest answer still fits (prompt tokens by 4
// characters). ErrSpent says what was spent and how to go on.
//
// # Keys
//
// A key is read from the environment variable that key_env names, and sent in
// one header to one address; redirects are not followed. It is taken out of all
// that a server sends, before that is kept or quoted. Addresses with a user, a
// password or a query are refused, as the experiment file is copied to the
// manifest. Keys of fewer than 8 characters, such as EMPTY, are placeholders
// and no secrets.
//
// # The diagnoser
//
// Diagnoser asks a model about each question whose answer is wrong: it shows the
// system, the question, each module's output with its number, the system's
// answer and the right one, and asks for one of three verdicts. Verdict reads
// them. Measure compares a judge with labelled failures, of Who&When or of a
// table, and gives its accuracy p with an interval.
//
// # Example
//
//	systems: [locate-solve]
//	worlds:
//	  - name: mine
//	    world: live
//	    endpoints:
//	      local: {base_url: "http://localhost:8000/v1", concurrency: 16}
//	      cloud: {base_url: "https://api.openai.com/v1", key_env: OPENAI_API_KEY}
//	    models:
//	      qwen: {endpoint: local, model: qwen2.5-7b-instruct}
//	      mini: {endpoint: cloud, model: gpt-4o-mini, input_price: 0.15, output_price: 0.6}
//	    prompts:
//	      locate: 'Copy the task that row {{.question}} of the table holds.'
//	      solve:
//	        short: 'Solve: {{.locate}} End with "final answer: x".'
//	        steps: 'Solve step by step: {{.locate}} End with "final answer: x".'
//	    questions: questions.csv        # columns question, answer
//	    metric: numeric_match
//	    answers: answers.jsonl
//	    dollars_limit: 5
//	    diagnoser: {model: mini}
//	optimisers: [single, llmselector]
package endpoint
