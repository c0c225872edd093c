package engine

// Batch is what a step computes, as far as its time depends on it.
//
// It is passed by value once a decode step. With its eight words and the
// receiver it still fits into registers; a ninth would make that call five
// times slower, which is why Chunks is a pointer to a slice. Methods take it by
// pointer, since they are inlined and need no copy.
type Batch struct {
	Tokens        int64 // new tokens: those of the prefill chunks, and one a decode
	Prefill       int64 // of Tokens, those of prefill chunks
	Requests      int64
	Context       int64    // tokens of context before the new ones, summed over requests
	DecodeContext int64    // of Context, that of decodes
	Attention2    int64    // Σ 2 m done + m² over requests: twice the attention term
	Chunks        *[]Chunk // each prefill chunk, where the caller keeps them, else nil
}

// Chunk is what a step computes of one prefill, for models that are no
// function of sums: New tokens after Done tokens of context.
type Chunk struct{ New, Done int64 }

// Decodes returns the number of decodes.
func (b *Batch) Decodes() int64 { return b.Tokens - b.Prefill }

// PrefillAttention2 returns the part of Attention2 that prefill chunks make.
func (b *Batch) PrefillAttention2() int64 { return b.Attention2 - 2*b.DecodeContext - b.Decodes() }

// add puts a request with m new tokens after done tokens of context into b.
func (b *Batch) add(m, done int64) {
	b.Tokens += m
	b.Prefill += m
	b.Requests++
	b.Context += done
	b.Attention2 += m * (2*done + m)
	if b.Chunks != nil {
		*b.Chunks = append(*b.Chunks, Chunk{m, done})
	}
}

// decode puts n decodes with the given sum of contexts into b.
func (b *Batch) decode(n, context int64) {
	b.Tokens += n
	b.Requests += n
	b.Context += context
	b.DecodeContext += context
	b.Attention2 += 2*context + n
}

// decodes returns the batch of n decodes with the given sum of contexts.
func decodes(n, context int64) Batch {
	return Batch{Tokens: n, Requests: n, Context: context, DecodeContext: context, Attention2: 2*context + n}
}

// Prefill returns the time in nanoseconds of a step that computes so many
// tokens of one prompt, after cached ones, and nothing else; 0 for no tokens.
func Prefill(m StepModel, tokens, cached int64) int64 {
	if tokens <= 0 {
		return 0
	}
	var b Batch
	b.Chunks = &[]Chunk{{tokens, cached}}
	b.Tokens, b.Prefill, b.Requests, b.Context = tokens, tokens, 1, cached
	b.Attention2 = tokens * (2*cached + tokens)
	return m.StepNs(b)
}

// StepModel gives the time of a step in nanoseconds, at least 1.
type StepModel interface {
	StepNs(Batch) int64
}
