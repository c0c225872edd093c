package experiment

import (
	"os"
	"path/filepath"
	"regexp"
)

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Path returns the file that key names: ${VAR} is replaced by the environment
// variable, and a relative path starts at the folder of the experiment file,
// for a built-in experiment at the working directory. The error is an *Error.
func (s Section) Path(key string) (string, error) {
	text, ok := s.String(key)
	if !ok || text == "" {
		return "", s.Errorf(key, "the path of a file", nil)
	}
	missing := ""
	text = variable.ReplaceAllStringFunc(text, func(match string) string {
		name := variable.FindStringSubmatch(match)[1]
		value, set := os.LookupEnv(name)
		if !set && missing == "" {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", s.Errorf(key, "the environment variable "+missing+" to be set", nil)
	}
	if filepath.IsAbs(text) || s.doc.dir == "" {
		return filepath.Clean(text), nil
	}
	return filepath.Join(s.doc.dir, text), nil
}
