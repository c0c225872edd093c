package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// root is the top of the tree, seen from this package.
const root = "../.."

// source is one Go file of the tree.
type source struct {
	path   string // from the top, with slashes
	text   string
	file   *ast.File
	fset   *token.FileSet
	isTest bool
}

// folder is the package's folder, e.g. sim/engine.
func (s *source) folder() string { return filepath.ToSlash(filepath.Dir(s.path)) }

// layer is the first element of the path.
func (s *source) layer() string { return strings.SplitN(s.path, "/", 2)[0] }

func (s *source) at(node ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(node.Pos()).Line)
}

// imports returns the imported paths and the name that the file calls each by.
func (s *source) imports() map[string]string {
	names := map[string]string{}
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if path == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[path] = name
	}
	return names
}

func parse(path, text string) (*source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &source{path: path, text: text, file: file, fset: fset, isTest: strings.HasSuffix(path, "_test.go")}, nil
}

// files returns the paths of all files of the tree, without what git or the
// machine keeps: folders that begin with a dot, and results.
func files(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || rel == "out" || d.Name() == "__pycache__") {
				return filepath.SkipDir
			}
			return nil
		}
		paths = append(paths, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func sources(t *testing.T) []*source {
	t.Helper()
	var all []*source
	for _, path := range files(t) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(path, string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if len(all) < 20 {
		t.Fatalf("found %d Go files: is this the tree?", len(all))
	}
	return all
}

// check runs a rule over the whole tree.
func check(t *testing.T, rule func(*source) []string) {
	t.Helper()
	for _, s := range sources(t) {
		for _, complaint := range rule(s) {
			t.Error(complaint)
		}
	}
}
