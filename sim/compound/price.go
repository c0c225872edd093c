package compound

import "fmt"

// Price is what a model costs.
type Price struct {
	Call   float64 // dollars a call
	Input  float64 // dollars a million prompt tokens
	Output float64 // dollars a million output tokens
}

// Of returns the dollars that a model of this price costs a module a question.
func (p Price) Of(u Usage) float64 {
	tokens := float64(p.Input*u.PromptTokens) + float64(p.Output*u.OutputTokens)
	return u.Calls * (p.Call + tokens/1e6)
}

// price sets the cost of each candidate of each decision from prices by model;
// without prices all is free.
func (w *World) price(prices []Price) error {
	if len(prices) != 0 && len(prices) != len(w.sample.models) {
		return fmt.Errorf("%d prices for %d models: give one for each", len(prices), len(w.sample.models))
	}
	w.costs = make([][]float64, len(w.lists))
	for d, list := range w.lists {
		w.costs[d] = make([]float64, len(list))
		if len(prices) == 0 {
			continue
		}
		for c, id := range list {
			model := w.sample.candidates[id].Model
			w.costs[d][c] = prices[model].Of(w.graph.modules[w.graph.decisions[d]].Usage)
		}
	}
	return nil
}
