package endpoint

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"switchyard/sim/param"
)

// Server is an endpoint that speaks the OpenAI protocol. Its zero value has no
// defaults; set them with param.Defaults.
type Server struct {
	Name         string  `yaml:"-"`
	BaseURL      string  `yaml:"base_url" required:"true" doc:"address up to the version, such as https://api.openai.com/v1; ${VAR} is replaced by the environment variable; without user, password or query, which would end up in files"`
	KeyEnv       string  `yaml:"key_env" doc:"environment variable that holds the key; empty: none is sent"`
	KeyHeader    string  `yaml:"key_header" default:"Authorization" doc:"header that carries the key; in Authorization it stands behind Bearer, in any other as it is"`
	Concurrency  int     `yaml:"concurrency" default:"8" min:"1" max:"4096" unit:"calls" doc:"calls in flight together, whatever the number of workers"`
	TimeoutS     float64 `yaml:"timeout_s" default:"120" min:"0.001" max:"86400" unit:"s" doc:"how long one attempt may take, to the last byte"`
	Retries      int     `yaml:"retries" default:"5" min:"0" max:"1000" doc:"further attempts after one that failed with 408, 409, 425, 429, 5xx, a time-out, a broken connection or a reply that cannot be read"`
	RetryWaitS   float64 `yaml:"retry_wait_s" default:"1" min:"0" max:"3600" unit:"s" doc:"wait before the first further attempt; it doubles from attempt to attempt, and each wait is between half and all of that"`
	LongestWaitS float64 `yaml:"longest_wait_s" default:"60" min:"0" max:"86400" unit:"s" doc:"longest wait; an endpoint whose Retry-After asks for more is given up"`
	Stream       bool    `yaml:"stream" default:"false" doc:"have replies come piece by piece; the answers are the same"`
	StreamUsage  bool    `yaml:"stream_usage" default:"true" doc:"ask a streaming endpoint to count tokens (stream_options.include_usage); false for those that refuse to"`
}

// Model is a model of a server, with what each call asks for.
type Model struct {
	Name        string  `yaml:"-"`
	Endpoint    string  `yaml:"endpoint" doc:"the name of an endpoint; may be left out where there is only one"`
	Model       string  `yaml:"model" doc:"name by which the endpoint knows it; empty: its name in the experiment file"`
	InputPrice  float64 `yaml:"input_price" default:"0" min:"0" unit:"$/M" doc:"dollars a million prompt tokens"`
	OutputPrice float64 `yaml:"output_price" default:"0" min:"0" unit:"$/M" doc:"dollars a million output tokens"`
	MaxTokens   int     `yaml:"max_tokens" default:"1000" min:"1" max:"10000000" unit:"tokens" doc:"longest answer"`
	LimitName   string  `yaml:"max_tokens_name" default:"max_tokens" enum:"max_tokens|max_completion_tokens" doc:"how the endpoint calls that limit"`
	Temperature float64 `yaml:"temperature" default:"0.1" min:"-1" max:"2" doc:"sampling temperature; -1 = leave it to the endpoint. At 0 all samples of a prompt are taken to be the same"`
	Body        string  `yaml:"body" doc:"further parameters of a call, a JSON object: '{\"top_p\": 0.9}'"`
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

// Check says what bounds cannot. It never quotes what may be a secret.
func (s *Server) Check() error {
	fail := func(field, expected string) error {
		return &param.Error{Field: field, Value: Hidden, Expected: expected}
	}
	// ${VAR} is replaced when the world opens, which checks the result again.
	if !strings.Contains(s.BaseURL, "${") {
		if expected := checkURL(s.BaseURL); expected != "" {
			return fail("base_url", expected)
		}
	}
	if s.KeyEnv != "" && !variableName.MatchString(s.KeyEnv) {
		return fail("key_env", "the name of an environment variable, such as OPENAI_API_KEY, and not the key itself, which would end up in files")
	}
	if !headerName.MatchString(s.KeyHeader) {
		return fail("key_header", "the name of a header, such as api-key")
	}
	return nil
}

// checkURL says what is expected of an address, "" where it is fine.
func checkURL(text string) string {
	const expected = "an address such as http://localhost:8000/v1"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return expected
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return expected + ", without user, password or query, which would end up in files: name the variable of the key as key_env"
	}
	return ""
}

// own are the parameters of a call that have a place of their own.
var own = []string{"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "n"}

// Check says what bounds cannot.
func (m *Model) Check() error {
	_, err := m.extra()
	return err
}

// extra decodes the further parameters.
func (m *Model) extra() (map[string]any, error) {
	if m.Body == "" {
		return map[string]any{}, nil
	}
	fail := func(expected string) error {
		return &param.Error{Field: "body", Value: m.Body, Expected: expected}
	}
	body := map[string]any{}
	d := json.NewDecoder(strings.NewReader(m.Body))
	d.UseNumber()
	if err := d.Decode(&body); err != nil || body == nil || d.More() {
		return nil, fail(`a JSON object, such as '{"top_p": 0.9}'`)
	}
	for name := range body {
		if slices.Contains(own, name) {
			return nil, fail("no " + name + " in it, which is set elsewhere")
		}
	}
	return body, nil
}

// parameters are those of a call as canonical JSON: what decides an answer
// beside model, messages and sample.
func (m *Model) parameters() (map[string]any, error) {
	body, err := m.extra()
	if err != nil {
		return nil, err
	}
	body[m.LimitName] = m.MaxTokens
	if m.Temperature >= 0 {
		body["temperature"] = m.Temperature
	}
	return body, nil
}

// price returns the dollars of a call.
func (m *Model) price(input, output int) float64 {
	return (float64(m.InputPrice*float64(input)) + float64(m.OutputPrice*float64(output))) / 1e6
}

// Limits bound what one run may spend, over all its cells and workers. Zero is
// no limit.
type Limits struct {
	Calls   int     `yaml:"calls_limit" default:"0" min:"0" unit:"calls" doc:"attempts at a call that one run may make, all cells together; 0 = no limit. What is kept costs none"`
	Dollars float64 `yaml:"dollars_limit" default:"0" min:"0" unit:"$" doc:"dollars that one run may spend on answers, all cells together; 0 = no limit. A call is made only if its longest answer fits"`
}

// Message is one of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (m *Model) describe() string { return fmt.Sprintf("model %s at endpoint %s", m.Name, m.Endpoint) }
