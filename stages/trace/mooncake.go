package trace

// mooncake is the format of the traces that Mooncake publishes and that many
// replay tools have taken over.
var mooncake = Format{
	Name:    "mooncake",
	Summary: "JSONL of lengths and chained block hashes (Mooncake, and replay tools that took its format over)",
	Source:  "github.com/kvcache-ai/Mooncake, FAST25-release/traces; Qin et al., Mooncake, FAST 2025",
	Columns: "timestamp (ms), input_length, output_length (tokens), hash_ids (one for 512 tokens)",
	Empty: "left out and counted: a record without output was cancelled or failed before its first token, " +
		"and neither its prefill nor its latency can be known",
	BlockTokens: 512,
	matches: func(head []byte) bool {
		return hasKeys(head, "timestamp") && !hasKeys(head, "chat_id") &&
			(hasKeys(head, "input_length") || hasKeys(head, "hash_ids"))
	},
	read: func(in *input, emit emitFunc) error { return readBlocks(in, 1e3, nil, emit) },
}
