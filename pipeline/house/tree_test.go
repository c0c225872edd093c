package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// top are the names that the tree has at its top, beside dot files.
var top = []string{"pipeline", "stages", "sim", "notebooks", "out", "go.mod", "go.sum", "run.sh", "README.md", "LICENSE", "CONTRIBUTING.md"}

func TestTopLevelNamesAreFixed(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		found = append(found, e.Name())
		if !slices.Contains(top, e.Name()) {
			t.Errorf("%s at the top of the tree: everything goes under pipeline, stages, sim or notebooks", e.Name())
		}
	}
	for _, name := range top {
		if !slices.Contains(found, name) {
			t.Errorf("%s is missing from the top of the tree", name)
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	docs := map[string]string{}
	for _, s := range sources(t) {
		if s.isTest {
			continue
		}
		if _, seen := docs[s.folder()]; !seen {
			docs[s.folder()] = ""
		}
		if s.file.Doc != nil {
			if old := docs[s.folder()]; old != "" {
				t.Errorf("%s has a second package doc", s.path)
			}
			docs[s.folder()] = s.file.Doc.Text()
		}
	}
	for folder, doc := range docs {
		if complaint := docRule(folder, doc); complaint != "" {
			t.Error(complaint)
		}
	}
}

// docRule wants the first words that Go's tools expect and more than one line.
func docRule(folder, doc string) string {
	want := "Package " + folder[strings.LastIndex(folder, "/")+1:] + " "
	if folder == "pipeline/switchyard" {
		want = "Switchyard "
	}
	switch {
	case doc == "":
		return folder + ": no package doc"
	case !strings.HasPrefix(doc, want):
		return fmt.Sprintf("%s: the package doc must begin with %q", folder, want)
	case strings.Count(strings.TrimSpace(doc), "\n") < 2:
		return folder + ": the package doc says too little: what it is, assumptions, invariants, an example"
	}
	return ""
}

// longest is what a file may have: past it a file has more than one subject.
const longest = 500

func lengthRule(s *source) []string {
	if lines := strings.Count(s.text, "\n"); lines > longest {
		return []string{fmt.Sprintf("%s has %d lines, over %d: is it one subject?", s.path, lines, longest)}
	}
	return nil
}

func TestFilesAreShort(t *testing.T) { check(t, lengthRule) }

// misplaced are words that have no place in the tree: marks of unfinished
// work, and what only the people around one commit understand. The patterns
// are spelt so that they do not match themselves.
var misplaced = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b`), "a mark of unfinished work"},
	{regexp.MustCompile(`(?i)not[ ]implemented|unimplement[e]d`), "unfinished work"},
	{regexp.MustCompile(`(?i)\bissue[ ]#?[0-9]+`), "the number of an issue: write what it said"},
	{regexp.MustCompile(`/wor[k]/|\.\./share[d]|/hom[e]/[a-z]`), "a path of one machine"},
	{regexp.MustCompile(`(?i)\b(sub[a]gents?|farm-(benc[h]|studi[o])|before-sto[p])\b`), "a word of the workshop"},
}

func wordRule(path, text string) (complaints []string) {
	for i, line := range strings.Split(text, "\n") {
		for _, m := range misplaced {
			if found := m.pattern.FindString(line); found != "" {
				complaints = append(complaints, fmt.Sprintf("%s:%d: %q is %s", path, i+1, found, m.why))
			}
		}
	}
	return complaints
}

func TestWordsHaveTheirPlace(t *testing.T) {
	textual := []string{".go", ".md", ".sh", ".sql", ".py", ".yaml", ".ipynb", ".txtar", ".txt", ".mod"}
	for _, path := range files(t) {
		if !slices.Contains(textual, filepath.Ext(path)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, complaint := range wordRule(path, string(text)) {
			t.Error(complaint)
		}
	}
}
