package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"switchyard/sim/workload"
)

// blockRow is a line of the JSONL formats; numbers are NaN where the line has
// none. Qwen-Bailian's has all fields, Mooncake's the first three and hash_ids.
type blockRow struct {
	Timestamp float64 `json:"timestamp"`
	Input     float64 `json:"input_length"`
	Output    float64 `json:"output_length"`
	Chat      float64 `json:"chat_id"`
	Parent    float64 `json:"parent_chat_id"`
	Turn      float64 `json:"turn"`
	Type      string  `json:"type"`
	HashIDs   hashIDs `json:"hash_ids"`
}

func (b *blockRow) reset() {
	nan := math.NaN()
	*b = blockRow{Timestamp: nan, Input: nan, Output: nan, Chat: nan, Parent: nan, Turn: nan,
		HashIDs: hashIDs{ids: b.HashIDs.ids[:0]}}
}

// hashIDs decodes a list of integers: signed or unsigned, and told apart from a
// missing one. It is also a fifth faster than encoding/json's own way.
type hashIDs struct {
	ids   []int64
	given bool
}

const wantIDs = "a list of whole numbers of 64 bits"

// UnmarshalJSON takes a valid JSON value.
func (h *hashIDs) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if text[0] != '[' {
		return bad("hash_ids", quote(string(text)), wantIDs)
	}
	h.given = true
	for text = bytes.TrimSpace(text[1 : len(text)-1]); len(text) > 0; {
		item, rest, _ := bytes.Cut(text, []byte(","))
		id, err := parseID(item)
		if err != nil {
			return err
		}
		h.ids, text = append(h.ids, id), rest
	}
	return nil
}

// parseID takes all signed and unsigned integers of 64 bits; of the latter the
// bits count. Digits alone, the usual case, take a short way.
func parseID(text []byte) (int64, error) {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	var id int64
	for i, c := range text {
		if c < '0' || c > '9' || i == 18 {
			return parseLongID(bytes.TrimSpace(text))
		}
		id = 10*id + int64(c-'0')
	}
	return id, nil
}

func parseLongID(text []byte) (int64, error) {
	if id, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return id, nil
	}
	if id, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return int64(id), nil
	}
	return 0, bad("hash_ids", "a list with "+quote(string(text)), wantIDs)
}

// readBlocks reads a JSONL file whose records have block hashes; unit is the
// timestamp's in microseconds, more fills what the format has beyond it.
func readBlocks(in *input, unit float64, more func(*blockRow, *workload.Request) error, emit emitFunc) error {
	l := newLines(in)
	var row blockRow
	var r workload.Request
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row.reset()
		r = workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Segments: r.Segments[:0]}
		if err = decode(line, &row); err == nil {
			err = row.request(&r, unit, in.blockTokens)
		}
		if err == nil && more != nil {
			err = more(&row, &r)
		}
		if err == nil {
			err = emit(l.n, 0, &r)
		}
		if err != nil {
			return l.at(err, line)
		}
	}
}

// decode parses a line and puts the decoder's complaints into this package's
// words.
func decode(line []byte, row *blockRow) error {
	err := json.Unmarshal(line, row)
	if err == nil {
		return nil
	}
	var mine *Error
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mine):
		return mine
	case errors.As(err, &kind) && kind.Field != "":
		expected := "a number"
		if kind.Field == "type" {
			expected = "a string"
		}
		return bad(kind.Field, "a JSON "+kind.Value, expected)
	}
	return &Error{Problem: fmt.Sprintf("line is no JSON object (%v)", err), Expected: "one object a line"}
}

// request fills r with what all formats have.
func (b *blockRow) request(r *workload.Request, unit float64, blockTokens int32) error {
	var err error
	switch {
	case math.IsNaN(b.Timestamp):
		return bad("timestamp", "missing", "a number")
	case math.IsNaN(b.Input):
		return bad("input_length", "missing", wantTokens)
	case math.IsNaN(b.Output):
		return bad("output_length", "missing", wantTokens)
	case !b.HashIDs.given:
		return bad("hash_ids", "missing", wantIDs+" ([] where the prompt shares nothing)")
	}
	if r.ArrivalUs, err = micros("timestamp", b.Timestamp, unit); err != nil {
		return err
	}
	if r.Prompt, err = tokens("input_length", b.Input); err != nil {
		return err
	}
	if r.Output, err = tokens("output_length", b.Output); err != nil {
		return err
	}
	r.Segments, err = blocks(r.Segments, b.HashIDs.ids, r.Prompt, blockTokens)
	return err
}

// blocks turns hash ids into segments.
func blocks(segments []workload.Segment, ids []int64, prompt, blockTokens int32) ([]workload.Segment, error) {
	left := int64(prompt)
	for i, id := range ids {
		n := min(left, int64(blockTokens))
		if n == 0 {
			most := (int64(prompt) + int64(blockTokens) - 1) / int64(blockTokens)
			return nil, bad("hash_ids", fmt.Sprintf("a list of %d blocks", len(ids)),
				fmt.Sprintf("at most %d, as the prompt has %d tokens and a block %d (field block_tokens)", most, prompt, blockTokens))
		}
		left -= n
		if n < int64(blockTokens) {
			id = partial(ids[i], n)
		}
		segments = append(segments, workload.Segment{ID: id, Tokens: int32(n)})
	}
	return segments, nil
}

// partial is the segment id of a block that is not full: a function of hash id
// and fill (the finaliser of MurmurHash3, by Appleby), so that one id with two
// fills is two segments. The sign bit stays clear.
func partial(id, fill int64) int64 {
	h := uint64(id)*0x9e3779b97f4a7c15 + uint64(fill)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return int64((h ^ h>>33) >> 1)
}

// hasKeys reports whether the first line of head looks like a JSON object with
// these keys; a long line may be cut off.
func hasKeys(head []byte, keys ...string) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	for _, k := range keys {
		if !bytes.Contains(line, []byte(`"`+k+`"`)) {
			return false
		}
	}
	return true
}
