package main

import "switchyard/stages/endpoint"

// What list says of live worlds.

// liveItems are the sections of a live world, each with its parameters.
func liveItems() []item {
	section := func(name, summary string, params any) item {
		return item{named{name, summary}, nil, []any{params}, ""}
	}
	return []item{
		section("endpoints", "the servers, by name", new(endpoint.Server)),
		section("models", "the models, by name; each is a candidate of every module", new(endpoint.Model)),
		section("prompts", "by module, skill or rule: a text, a mapping with user, or several of both by name, each of which is a candidate", new(endpoint.PromptText)),
		section("diagnoser", "the model that says which module failed", new(endpoint.DiagnoserParams)),
	}
}

func metricItems() (items []item) {
	for _, m := range endpoint.Metrics() {
		items = append(items, item{named{m.Name, m.Summary}, []named{{"a vote passes on", "the " + m.Passes}, {"source", m.Source}}, nil, ""})
	}
	return items
}

func extractorItems() (items []item) {
	for _, e := range endpoint.Extractors() {
		items = append(items, item{named{e.Name, e.Summary}, nil, nil, ""})
	}
	return items
}

const liveExample = `
systems: [locate-solve]
worlds:
  - name: mine
    world: live
    endpoints:
      local: {base_url: "http://localhost:8000/v1", concurrency: 16}
      cloud: {base_url: "https://api.openai.com/v1", key_env: OPENAI_API_KEY}
    models:
      qwen: {endpoint: local, model: qwen2.5-7b-instruct}
      mini: {endpoint: cloud, model: gpt-4o-mini, input_price: 0.15, output_price: 0.6}
    prompts:                        # by module; of several each is a candidate
      locate: 'Copy the task that this asks for: {{.question}}'
      solve:
        short: 'Solve: {{.locate}} End with "final answer: x".'
        steps: 'Solve step by step: {{.locate}} End with "final answer: x".'
    questions: questions.csv        # columns question and answer
    metric: numeric_match
    answers: answers.jsonl          # every answer is kept here, and asked once
    dollars_limit: 5
    diagnoser: {model: mini}
optimisers: [single, llmselector]
`

func liveSections(item) string { return liveExample }
