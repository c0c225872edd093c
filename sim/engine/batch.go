package engine

// Batch is what a step computes, as far as its time depends on it.
type Batch struct {
	Tokens     int64 // new tokens: those of the prefill chunks, and one a decode
	Prefill    int64 // of Tokens, those of prefill chunks
	Requests   int64
	Context    int64 // tokens of context before the new ones, summed over requests
	Attention2 int64 // Σ 2 m done + m² over requests: twice the attention term
}

// add puts a request with m new tokens after done tokens of context into b.
func (b *Batch) add(m, done int64) {
	b.Tokens += m
	b.Prefill += m
	b.Requests++
	b.Context += done
	b.Attention2 += m * (2*done + m)
}

// decodes returns the batch of n decodes with the given sum of contexts.
func decodes(n, context int64) Batch {
	return Batch{Tokens: n, Requests: n, Context: context, Attention2: 2*context + n}
}

// StepModel gives the time of a step in nanoseconds, at least 1.
type StepModel interface {
	StepNs(Batch) int64
}
