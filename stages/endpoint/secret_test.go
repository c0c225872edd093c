package endpoint

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testKey = "sk-secret/0123456789+abc"

// TestSecretsStayOut: a server echoes the key in whatever it can, and none of
// it reaches an error, an answer, the file of answers, or what prints a client.
func TestSecretsStayOut(t *testing.T) {
	t.Setenv("ENDPOINT_TEST_KEY", testKey)
	forms := []string{testKey, strings.ReplaceAll(testKey, "/", `\/`), "sk-secret%2F0123456789%2Babc", base64.StdEncoding.EncodeToString([]byte(testKey))}
	leaks := func(what, text string) {
		t.Helper()
		for _, form := range append(forms, "0123456789") {
			if strings.Contains(text, form) {
				t.Errorf("%s has the key: %s", what, text)
			}
		}
	}
	all := strings.Join([]string{forms[0], forms[2], forms[3]}, " ")
	for name, trouble := range map[string]func(http.ResponseWriter, *http.Request){
		"bad request":    func(w http.ResponseWriter, r *http.Request) { http.Error(w, fmt.Sprint(r.Header, all), 400) },
		"long complaint": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("x", 285)+testKey, 400) },
		"server error":   func(w http.ResponseWriter, r *http.Request) { http.Error(w, all, 500) },
		"no JSON":        func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, testKey) },
		"error as reply": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"error": {"message": %q}}`, all)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere?key="+forms[2], http.StatusFound)
		},
		"broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		f := newFake(t, echo)
		f.trouble = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("api-key") != testKey {
				t.Errorf("%s: the server was sent %v", name, r.Header)
			}
			trouble(w, r)
			return true
		}
		c := aClient(t, f.aServer(func(s *Server) { s.KeyEnv, s.KeyHeader, s.Retries = "ENDPOINT_TEST_KEY", "api-key", 1 }))
		m := aModel()
		_, err := c.Ask(t.Context(), &m, say("hello"), 0)
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		leaks(name, err.Error())
	}
	for _, stream := range []bool{false, true} {
		f := newFake(t, func(*asked) string { return "your key is " + all + "." })
		path := filepath.Join(t.TempDir(), "answers.jsonl")
		c := aClient(t, f.aServer(func(s *Server) { s.KeyEnv, s.Stream = "ENDPOINT_TEST_KEY", stream }), func(o *Options) { o.Answers = mustOpen(t, path, false) })
		m := aModel()
		a, err := c.Ask(t.Context(), &m, say("hello"), 0)
		if want := "your key is (not shown) (not shown) (not shown)."; err != nil || a.Text != want {
			t.Errorf("%q, %v, expected %q", a.Text, err, want)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		leaks("the file of answers", string(data))
		s := c.servers["fake"]
		marshalled, _ := json.Marshal(s.key)
		leaks("a print", fmt.Sprintf("%v %+v %#v %s %s", s.key, s.key, s.key, s.key, marshalled))
		leaks("a print of the server", fmt.Sprintf("%v %+v", s.Server, s.Server))
		func() {
			defer func() { leaks("a panic", fmt.Sprint(recover())) }()
			panic(fmt.Sprintf("%v", s.key))
		}()
	}
}

// TestPlaceholders: what is no secret may stand in answers.
func TestPlaceholders(t *testing.T) {
	t.Setenv("ENDPOINT_TEST_KEY", "EMPTY")
	f := newFake(t, func(*asked) string { return "the set is EMPTY" })
	c := aClient(t, f.aServer(func(s *Server) { s.KeyEnv = "ENDPOINT_TEST_KEY" }))
	m := aModel()
	if a, err := c.Ask(t.Context(), &m, say("hello"), 0); err != nil || a.Text != "the set is EMPTY" {
		t.Errorf("%q, %v", a.Text, err)
	}
}
