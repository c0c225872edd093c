package experiment

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of what is parsed. The library's time and memory grow with the square
// of the nesting (10,000 open brackets take seconds, 60,000 all memory) and of
// the keys of a mapping (80,000 take half a minute), so that a damaged file is
// refused before it gets there. An experiment is far below them.
const (
	maxBytes   = 128 << 10
	maxLines   = 10_000
	maxLine    = 16 << 10
	maxNesting = 64
)

// parse reads one YAML document into a tree. Positions carry file; those of an
// option have no line.
func parse(file string, data []byte, option bool) (*node, []error) {
	// The library counts the characters of a line's end as it reads them.
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	p := &treeReader{file: file, option: option, lines: strings.Split(text, "\n")}
	if err := p.guard(len(text)); err != nil {
		return nil, []error{err}
	}
	doc, err := p.document(text)
	if err != nil {
		return nil, []error{err}
	}
	root := p.read(doc, p.at(1, 1), "", 0)
	return root, p.errs
}

type treeReader struct {
	file   string
	option bool
	lines  []string
	errs   []error
}

// at returns a place inside the text; the library is now and then a line off
// behind quoted text of several lines.
func (p *treeReader) at(line, column int) position {
	if p.option {
		return position{file: p.file}
	}
	line = min(max(line, 1), len(p.lines))
	end := utf8.RuneCountInString(p.lines[line-1]) + 1
	return position{file: p.file, line: line, column: min(max(column, 1), end)}
}

func (p *treeReader) tokenAt(tk *token.Token, otherwise position) position {
	if tk == nil || tk.Position == nil {
		return otherwise
	}
	return p.at(tk.Position.Line, tk.Position.Column)
}

// problem returns an error about the text of the file, not about a value.
func (p *treeReader) problem(at position, problem, expected string) *Error {
	return &Error{File: at.file, Line: at.line, Column: at.column, Problem: problem, Expected: expected}
}

func (p *treeReader) fail(at position, path, problem, expected string) {
	e := p.problem(at, problem, expected)
	e.Path = path
	p.errs = append(p.errs, e)
}

func (p *treeReader) guard(size int) error {
	if size > maxBytes {
		return p.problem(p.at(1, 1), fmt.Sprintf("the text has %d bytes", size), fmt.Sprintf("at most %d", maxBytes))
	}
	if len(p.lines) > maxLines {
		return p.problem(p.at(1, 1), fmt.Sprintf("the text has %d lines", len(p.lines)), fmt.Sprintf("at most %d", maxLines))
	}
	depth := 0
	for i, line := range p.lines {
		if !utf8.ValidString(line) {
			return p.problem(p.at(i+1, 1), "the line is no UTF-8", "UTF-8")
		}
		if strings.Contains(line, "\r") {
			return p.problem(p.at(i+1, 1), "a carriage return inside the line", "lines that end in a line feed")
		}
		if len(line) > maxLine {
			return p.problem(p.at(i+1, 1), fmt.Sprintf("the line has %d bytes", len(line)), fmt.Sprintf("at most %d", maxLine))
		}
		markers := strings.Count(line, "- ") + strings.Count(line, "? ") + strings.Count(line, "&") + strings.Count(line, "!")
		line, _, _ = strings.Cut(line, " #")
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > maxNesting || markers > 2*maxNesting {
				return p.problem(p.at(i+1, 1), "the line nests too deep", fmt.Sprintf("at most %d levels", maxNesting))
			}
		}
	}
	return nil
}

// document returns the body of the only document, nil when it is empty.
func (p *treeReader) document(text string) (body ast.Node, err error) {
	defer func() { // the parser is a library that meets people's typing errors
		if r := recover(); r != nil {
			body, err = nil, p.problem(p.at(1, 1), fmt.Sprintf("the parser gave up (%v)", r), "valid YAML")
		}
	}()
	parsed, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			return nil, p.problem(p.tokenAt(syntax.GetToken(), p.at(1, 1)), "not YAML: "+strings.TrimSpace(syntax.GetMessage()), "valid YAML")
		}
		return nil, p.problem(p.at(1, 1), "not YAML: "+err.Error(), "valid YAML")
	}
	for i, doc := range parsed.Docs {
		if _, ok := doc.Body.(*ast.DirectiveNode); ok {
			return nil, p.problem(p.tokenAt(doc.Body.GetToken(), p.at(1, 1)), "a directive", "none")
		}
		if i > 0 && (doc.Body != nil || doc.Start != nil) {
			at := p.at(1, 1)
			if doc.Body != nil {
				at = p.at(p.tokenAt(doc.Body.GetToken(), at).line, 1)
			}
			at = p.tokenAt(doc.Start, at)
			return nil, p.problem(at, "a second document", "one document a file")
		}
	}
	if len(parsed.Docs) == 0 {
		return nil, nil
	}
	return parsed.Docs[0].Body, nil
}

// read turns a node of the library into one of ours; fallback is its place
// where the library knows none, path its name in errors.
func (p *treeReader) read(n ast.Node, fallback position, path string, depth int) *node {
	if n == nil {
		return &node{at: fallback}
	}
	at := p.tokenAt(n.GetToken(), fallback)
	if depth > maxNesting {
		p.fail(at, path, "the value nests too deep", fmt.Sprintf("at most %d levels", maxNesting))
		return &node{at: at}
	}
	switch x := n.(type) {
	case *ast.MappingNode:
		return p.readMapping(x.Values, at, x.IsFlowStyle, path, depth)
	case *ast.MappingValueNode:
		return p.readMapping([]*ast.MappingValueNode{x}, at, false, path, depth)
	case *ast.SequenceNode:
		out := &node{kind: list, at: at}
		for i, v := range x.Values {
			out.items = append(out.items, p.read(v, at, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
		return out
	case *ast.LiteralNode:
		return &node{value: x.Value.Value, raw: x.Value.Value, at: at}
	case *ast.StringNode:
		if tk := x.GetToken(); tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType {
			return &node{value: x.Value, raw: x.Value, quoted: true, at: at}
		}
		return plainNode(x.Value, at)
	case *ast.NullNode:
		if tk := x.GetToken(); tk.Type == token.ImplicitNullType {
			return &node{at: fallback} // nothing is written
		}
		return plainNode(x.GetToken().Value, at)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return plainNode(n.GetToken().Value, at)
	}
	p.fail(at, path, notUsed(n), "a plain value")
	return &node{at: at}
}

func notUsed(n ast.Node) string {
	switch n.(type) {
	case *ast.AnchorNode:
		return "an anchor (&), which experiment files do not use"
	case *ast.AliasNode:
		return "an alias (*), which experiment files do not use"
	case *ast.TagNode:
		return "a tag (!), which experiment files do not use"
	}
	return "a " + strings.ToLower(n.Type().String()) + ", which experiment files do not use"
}

func plainNode(text string, at position) *node {
	return &node{value: resolve(text), raw: text, at: at}
}

func (p *treeReader) readMapping(values []*ast.MappingValueNode, at position, flow bool, path string, depth int) *node {
	out := &node{kind: mapping, at: at}
	for i, v := range values {
		keyAt := p.tokenAt(v.Key.GetToken(), at)
		if i == 0 && !flow {
			out.at = keyAt // the library gives the colon
		}
		key, ok := v.Key.(ast.ScalarNode)
		if _, merge := v.Key.(*ast.MergeKeyNode); merge || !ok {
			p.fail(keyAt, path, "a complex or merge key, which experiment files do not use", "a plain key")
			continue
		}
		text := key.GetToken().Value
		if out.get(text) != nil {
			p.fail(keyAt, join(path, text), "duplicate key", "each key once")
			continue
		}
		out.entries = append(out.entries, entry{key: text, at: keyAt, value: p.read(v.Value, keyAt, join(path, text), depth+1)})
	}
	return out
}
