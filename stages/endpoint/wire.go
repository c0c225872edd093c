package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The protocol: POST {base_url}/chat/completions, as OpenAI publishes it and
// vLLM, SGLang, Ollama, llama.cpp and others follow it.

// longestReply bounds what is read of a reply.
const longestReply = 32 << 20

// reply is what a server answered.
type reply struct {
	text          string
	finish        string // stop, length, ...
	input, output int
	counted       bool // the tokens are not the server's count
}

// wireReply is a whole reply or a piece of one.
type wireReply struct {
	Choices []struct {
		Message wireText `json:"message"`
		Delta   wireText `json:"delta"`
		Finish  *string  `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// wireText is a message, whose content is a text, a list of parts, or null.
type wireText struct {
	Content content `json:"content"`
}

type content string

// UnmarshalJSON joins the parts that are texts.
func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err == nil {
		if text != nil {
			*c = content(*text)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("content is neither a text nor a list of parts")
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}

// refusal is the error inside a reply with status 200.
func (w *wireReply) refusal() error {
	if len(w.Error) == 0 || string(w.Error) == "null" {
		return nil
	}
	return fmt.Errorf("the reply is an error: %s", w.Error)
}

// usage takes over a server's count of tokens.
func (r *reply) usage(w *wireReply) {
	if w.Usage != nil {
		r.input, r.output, r.counted = max(0, w.Usage.Input), max(0, w.Usage.Output), false
	}
}

// readPlain reads a reply in one piece.
func readPlain(body io.Reader, r *reply) error {
	data, err := io.ReadAll(io.LimitReader(body, longestReply+1))
	if err != nil {
		return fmt.Errorf("the reply ends early: %w", err)
	}
	if len(data) > longestReply {
		return fmt.Errorf("the reply is longer than %d MiB", longestReply>>20)
	}
	var w wireReply
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("the reply is no JSON: %w", err)
	}
	if err := w.refusal(); err != nil {
		return err
	}
	if len(w.Choices) == 0 {
		return errors.New("the reply has no choices")
	}
	r.text = string(w.Choices[0].Message.Content)
	if f := w.Choices[0].Finish; f != nil {
		r.finish = *f
	}
	r.usage(&w)
	return nil
}

// readStream joins a reply that comes as server-sent events. What has come
// before an error stays in r.
func readStream(body io.Reader, r *reply) error {
	lines := bufio.NewReaderSize(io.LimitReader(body, longestReply), 64<<10)
	var text strings.Builder
	defer func() { r.text = text.String() }()
	for {
		line, err := lines.ReadBytes('\n')
		data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case isData && string(data) == "[DONE]":
			return nil
		case isData && err == nil:
			if err := r.piece(data, &text); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && r.finish != "":
			return nil // some servers leave the last event out
		case err != nil:
			return fmt.Errorf("the stream ends early: %w", err)
		}
	}
}

// piece takes over one event.
func (r *reply) piece(data []byte, text *strings.Builder) error {
	var w wireReply
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("a piece of the stream is no JSON: %w", err)
	}
	if err := w.refusal(); err != nil {
		return err
	}
	if len(w.Choices) > 0 {
		text.WriteString(string(w.Choices[0].Delta.Content))
		if f := w.Choices[0].Finish; f != nil {
			r.finish = *f
		}
	}
	r.usage(&w)
	return nil
}

// charactersAToken is the rule of thumb for servers that do not count.
const charactersAToken = 4

// tokens estimates the tokens of a text, rounded up.
func tokens(characters int) int { return (characters + charactersAToken - 1) / charactersAToken }

// characters is the length of a conversation.
func characters(messages []Message) (n int) {
	for _, m := range messages {
		n += len([]rune(m.Content))
	}
	return n
}
