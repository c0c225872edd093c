// Package trace reads recorded request traces: one format a file, each from
// an io.Reader, plain or gzipped, into requests over hash-id blocks.
//
// The steps, in order:
//
//  1. Read unpacks gzip (told by its magic bytes), finds the format by name or
//     by the first bytes, and decodes record after record. A record that
//     cannot be understood ends the reading with an *Error that holds the
//     file, the line, its text, the field and what was expected.
//  2. Records without prompt tokens or without output tokens are no requests
//     of a serving system; the published formats hold some (failed or
//     filtered calls). They are left out and counted in Trace.NoPrompt and
//     Trace.NoOutput; Format.Empty says why for each format, Trace.Notes what
//     to tell the user. In the parquet format, whose files she makes herself,
//     they are errors.
//  3. Records are sorted by time; those with equal times keep their order in
//     the file. Trace.Moved counts the records that stood behind a later one.
//     Times become whole microseconds since the first request left.
//  4. Cut applies the options, in one place for all formats: first window,
//     then limit, then speed.
//
// A hash id names a block of the prompt: 512 tokens in Mooncake's traces, 16 in
// Qwen-Bailian's. Ids are chained (a block's id covers what stands before it),
// so a prompt's ids are its path in the prefix forest. The last block holds
// the rest of the prompt and may be partly filled. Nothing ensures that two
// records with one id fill it equally, while a segment has one length; a
// partly filled block's segment id is therefore made from its hash id and
// its fill, and full blocks keep their hash ids. Blocks that the ids do not
// cover are private. The traces name no blocks of outputs, so that a later
// turn finds the earlier prompt, and its answer only where the ids of the
// turns say so.
//
// A trace is held in memory by columns: 20 bytes a request, 8 a hash id, and
// 12 for a session and turn where the format has them. Azure's week of 27
// million requests takes about half a gigabyte.
//
//	t, err := trace.Read("conversation.jsonl", file, trace.Source{})
//	cut, err := t.Cut(trace.Options{Speed: 2, Limit: 1000})
//	b := workload.Builder{BlockTokens: cut.BlockTokens()}
//	err = cut.Each(func(_ int, r *workload.Request) error { return b.Add(r) })
//	w, err := b.Build()
package trace
