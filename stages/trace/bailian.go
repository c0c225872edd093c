package trace

import (
	"math"
	"strconv"

	"switchyard/sim/workload"
)

// qwenBailian is the format of Alibaba's traces of Qwen on Bailian.
var qwenBailian = Format{
	Name:    "qwen-bailian",
	Summary: "JSONL of lengths, chats and block hashes (Alibaba's traces of Qwen on Bailian)",
	Source:  "github.com/alibaba-edu/qwen-bailian-usagetraces-anon; Wang et al., KVCache Cache in the Wild, ATC 2025",
	Columns: "timestamp (s), input_length, output_length (tokens), hash_ids (one for 16 tokens), chat_id; " +
		"optional parent_chat_id (-1 at a chat's first request), turn (from 1), type (becomes a tag)",
	Empty: "left out and counted: a record without output was cancelled or failed before its first token, " +
		"and neither its prefill nor its latency can be known",
	BlockTokens: 16,
	matches:     func(head []byte) bool { return hasKeys(head, "chat_id", "input_length") },
	read: func(in *input, emit emitFunc) error {
		c := chats{root: map[int64]int64{}, tags: map[string][]string{}}
		return readBlocks(in, 1e6, c.fill, emit)
	},
}

// chats joins requests to sessions. Each request of a chat has an id of its
// own and names its predecessor's; the session is the id of the first one. A
// predecessor that does not stand before in the file (the recording began
// later) is taken for the first one.
type chats struct {
	root map[int64]int64
	tags map[string][]string
}

const wantChat = "a whole number of at least 0"

func (c *chats) fill(row *blockRow, r *workload.Request) error {
	chat, err := wholeID("chat_id", row.Chat, 0)
	if err != nil {
		return err
	}
	parent := int64(workload.None)
	if !math.IsNaN(row.Parent) {
		if parent, err = wholeID("parent_chat_id", row.Parent, workload.None); err != nil {
			return err
		}
	}
	r.Session = chat
	if parent != workload.None {
		first, known := c.root[parent]
		if !known {
			first = parent
			c.root[parent] = parent
		}
		r.Session = first
	}
	c.root[chat] = r.Session
	if !math.IsNaN(row.Turn) {
		turn, err := tokens("turn", row.Turn)
		if err != nil || turn < 1 {
			return bad("turn", strconv.FormatFloat(row.Turn, 'g', -1, 64), "a whole number of at least 1")
		}
		r.Turn = turn - 1
	}
	if row.Type != "" {
		tags, ok := c.tags[row.Type]
		if !ok {
			tags = []string{row.Type}
			c.tags[row.Type] = tags
		}
		r.Tags = tags
	}
	return nil
}

// wholeID takes whole numbers that a float64 holds exactly.
func wholeID(field string, x float64, least int64) (int64, error) {
	switch {
	case math.IsNaN(x):
		return 0, bad(field, "missing", wantChat)
	case x < float64(least) || x >= exactUs || x != math.Trunc(x):
		expected := wantChat
		if least == workload.None {
			expected = "-1 or " + wantChat
		}
		return 0, bad(field, strconv.FormatFloat(x, 'g', -1, 64), expected)
	}
	return int64(x), nil
}
