package endpoint

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"strings"
)

// Hidden stands in messages for what may be a secret.
const Hidden = "(not shown)"

// shortest is the length from which a key counts as a secret. Local servers are
// given placeholders such as "EMPTY" or "none", which may occur in any answer.
const shortest = 8

// secret is a key. It prints as Hidden, whatever prints it.
type secret struct{ text string }

func (secret) String() string               { return Hidden }
func (secret) GoString() string             { return Hidden }
func (secret) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// keyOf reads a server's key from the environment; ok is false where it is not
// set.
func keyOf(variable string) (key secret, ok bool) {
	if variable == "" {
		return secret{}, true
	}
	text := strings.TrimSpace(os.Getenv(variable))
	return secret{text}, text != ""
}

// scrub takes the key out of what a server sent, in the forms in which servers
// echo headers: as it is, escaped for JSON or an address, and in base 64.
func (s secret) scrub(text string) string {
	if len(s.text) < shortest {
		return text
	}
	escaped, _ := json.Marshal(s.text)
	for _, form := range []string{
		s.text, strings.Trim(string(escaped), `"`), url.QueryEscape(s.text),
		base64.StdEncoding.EncodeToString([]byte(s.text)), base64.RawURLEncoding.EncodeToString([]byte(s.text)),
	} {
		text = strings.ReplaceAll(text, form, Hidden)
	}
	return text
}
