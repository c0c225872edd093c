package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

const module = "switchyard/"

// rank orders the layers; a package imports its own layer and lower ones.
var rank = map[string]int{"sim": 0, "stages": 1, "pipeline": 2}

// impure are the packages that would make a simulation depend on more than
// its arguments, each with the reason.
var impure = map[string]string{
	"os":                         "files and the environment are read by stages",
	"io/fs":                      "files are read by stages",
	"io/ioutil":                  "files are read by stages",
	"path/filepath":              "files are read by stages",
	"embed":                      "files belong to stages and the program",
	"time":                       "simulated time is an integer; the clock belongs to stages/run",
	"log":                        "what a model finds it returns",
	"log/slog":                   "what a model finds it returns",
	"net":                        "a model talks to nobody",
	"net/http":                   "a model talks to nobody",
	"sync":                       "a model is one goroutine's; stages/run makes the parallelism",
	"sync/atomic":                "a model is one goroutine's; stages/run makes the parallelism",
	"context":                    "a model is called and returns; stages/run cancels between cells",
	"math/rand":                  "random numbers come from a named stream of sim/rng",
	"crypto/rand":                "random numbers come from a named stream of sim/rng",
	"runtime":                    "results must not depend on the machine",
	"runtime/debug":              "results must not depend on the machine",
	"unsafe":                     "nothing here is worth it",
	"flag":                       "options are plain structs",
	"math/rand/v2":               "random numbers come from a named stream of sim/rng, which alone wraps a generator",
	"hash/maphash":               "its seed differs from run to run",
	"os/exec":                    "a model starts nothing",
	"golang.org/x/sync/errgroup": "a model is one goroutine's; stages/run makes the parallelism",
}

// only lists imports that have one place outside tests, each with the reason.
// The keys are prefixes of import paths, the values folders.
var only = map[string][]string{
	"net/http":                       {"stages/endpoint"},
	"github.com/urfave/cli":          {"pipeline/switchyard"},
	"github.com/parquet-go":          {"stages/table", "stages/trace", "stages/outcomes"},
	"github.com/duckdb":              {"stages/query"},
	"github.com/goccy/go-yaml":       {"stages/experiment"},
	"github.com/vbauerster/mpb":      {"stages/run"},
	"golang.org/x/term":              {"stages/run"},
	"github.com/apache/arrow":        {"stages/table"},
	"github.com/rogpeppe":            {},
	"github.com/apache/arrow-go":     {},
	"github.com/apache/arrow/go/v18": {},
}

func importRules(s *source) (complaints []string) {
	for path := range s.imports() {
		if inner, ok := strings.CutPrefix(path, module); ok {
			layer := strings.SplitN(inner, "/", 2)[0]
			if rank[layer] > rank[s.layer()] {
				complaints = append(complaints, fmt.Sprintf("%s imports %s: imports run pipeline -> stages -> sim and never back", s.path, path))
			}
			continue
		}
		if s.isTest {
			continue
		}
		if why, bad := impure[path]; bad && s.layer() == "sim" && !(path == "math/rand/v2" && s.folder() == "sim/rng") {
			complaints = append(complaints, fmt.Sprintf("%s imports %s: %s", s.path, path, why))
		}
		if path == "math/rand" && s.layer() != "sim" {
			complaints = append(complaints, fmt.Sprintf("%s imports %s: %s", s.path, path, impure[path]))
		}
		if strings.HasPrefix(path, "github.com/apache/arrow") && strings.Contains(path, "/parquet") {
			complaints = append(complaints, fmt.Sprintf("%s imports %s: over half of a cold build; parquet-go reads and writes, arrow's reader checks it in tests", s.path, path))
		}
		for prefix, folders := range only {
			if strings.HasPrefix(path, prefix) && !within(s.folder(), folders) {
				complaints = append(complaints, fmt.Sprintf("%s imports %s, which has its place in %v", s.path, path, folders))
			}
		}
	}
	return complaints
}

func within(folder string, folders []string) bool {
	for _, f := range folders {
		if folder == f || strings.HasPrefix(folder, f+"/") {
			return true
		}
	}
	return false
}

// purityRules are what imports do not show: goroutines, channels, printing
// and the global generator, in the layer sim.
func purityRules(s *source) (complaints []string) {
	if s.layer() != "sim" || s.isTest {
		return nil
	}
	complain := func(node ast.Node, what string) {
		complaints = append(complaints, fmt.Sprintf("%s: %s", s.at(node), what))
	}
	random := s.imports()["math/rand/v2"]
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			complain(n, "goroutine in sim: stages/run makes the parallelism")
		case *ast.ChanType, *ast.SelectStmt:
			complain(n, "channel in sim: a model is called and returns")
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "print" || name.Name == "println") {
				complain(n, "printing in sim: what a model finds it returns")
			}
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			if pkg.Name == "fmt" && (strings.HasPrefix(n.Sel.Name, "Print") || strings.HasPrefix(n.Sel.Name, "Scan")) {
				complain(n, "printing in sim: what a model finds it returns")
			}
			if random != "" && pkg.Name == random && n.Sel.Name != "PCG" && n.Sel.Name != "NewPCG" {
				complain(n, "rand."+n.Sel.Name+": only the bare generator PCG has outputs that Go keeps")
			}
		}
		return true
	})
	return complaints
}

// wiringRules keep packages free of work at start and of exits in the middle.
func wiringRules(s *source) (complaints []string) {
	if s.isTest {
		return nil
	}
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			complaints = append(complaints, s.at(f)+": init function: a table that callers read needs none")
		}
		if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for _, spec := range g.Specs {
				if i := spec.(*ast.ImportSpec); i.Name != nil && i.Name.Name == "." {
					complaints = append(complaints, s.at(i)+": dot import")
				}
			}
		}
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		sel, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok {
			name := pkg.Name + "." + sel.Sel.Name
			exits := name == "os.Exit" || name == "log.Fatal" || name == "log.Fatalf"
			if exits && s.path != "pipeline/switchyard/main.go" {
				complaints = append(complaints, s.at(sel)+": "+name+": only main ends the program; return an error")
			}
		}
		return true
	})
	return complaints
}

func TestImportsRunOneWay(t *testing.T)      { check(t, importRules) }
func TestSimIsPure(t *testing.T)             { check(t, purityRules) }
func TestOnlyMainStartsAndEnds(t *testing.T) { check(t, wiringRules) }
