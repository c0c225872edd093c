package experiment

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"switchyard/sim/param"
)

// form is a value with an axis or a flag: {sweep: [...], zip: z} or
// {value: v, per_replica: true}.
type form struct {
	values     []*node
	swept      bool
	zip        string
	perReplica *node // the flag where it is true, else nil
	strangers  []entry
}

// formKeys make a mapping a form; value only does beside one of them.
var formKeys = []string{"sweep", "zip", "per_replica"}

func (n *node) isForm() bool {
	return n.kind == mapping && slices.ContainsFunc(formKeys, func(key string) bool { return n.get(key) != nil })
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

const nameExpected = "a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters"

// checker walks a section before it is expanded: it finds what is wrong
// whatever is chosen, and all axes.
type checker struct {
	forms map[*node]*form
	paths map[*node]string // of each axis: its keys without variants, workload.arrivals.rate_rps
	zips  map[string]*node
	errs  []error
}

func (c *checker) fail(err *Error) { c.errs = append(c.errs, err) }

// variants checks a list of named variants; path is its name among factors.
func (c *checker) variants(n *node, path string) {
	nameExpected := nameExpected
	if strings.Contains(path, ".") {
		nameExpected += "; a list of mappings is a list of variants, of which each configuration takes one (parts of one thing are a mapping by name)"
	}
	first := map[string]*node{}
	for _, item := range n.items {
		if item.kind != mapping {
			c.fail(item.wrong("a mapping with a name, as the list has others"))
			continue
		}
		name := item.get("name")
		switch {
		case name == nil:
			c.fail(item.missing("name", nameExpected))
		case name.kind != scalar || !namePattern.MatchString(name.raw):
			c.fail(name.wrong(nameExpected))
		case first[name.raw] != nil:
			other := first[name.raw].at
			expected := "a name that no other has"
			if other.line > 0 {
				expected += fmt.Sprintf("; line %d has it too", other.line)
			}
			c.fail(name.wrong(expected))
		default:
			first[name.raw] = name
			name.value = name.raw // a name may look like a number
		}
		c.mapping(item, path, "name")
	}
}

func (c *checker) mapping(n *node, path, skip string) {
	for _, e := range n.entries {
		if e.key != skip {
			c.value(e.value, join(path, e.key))
		}
	}
}

func (c *checker) value(n *node, path string) {
	switch {
	case n.isForm():
		c.form(n, path)
	case n.maps():
		c.paths[n] = path
		c.variants(n, path)
	case n.kind == mapping:
		c.mapping(n, path, "")
	default:
		c.bare(n)
	}
}

// bare checks a value that holds no choice.
func (c *checker) bare(n *node) {
	for _, item := range n.items {
		c.bare(item)
	}
	switch x := n.value.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			c.fail(n.wrong("a finite number"))
		}
	case string:
		if len(x) > 1000 {
			c.fail(n.wrong("at most 1000 bytes of text"))
		}
	}
	if n.kind == mapping {
		c.fail(n.wrong("a plain value: no mapping and no axis stands inside a sweep or a list of lists"))
	}
}

func (c *checker) form(n *node, path string) {
	f := &form{}
	ok := true
	for _, e := range n.entries {
		switch e.key {
		case "sweep":
			f.swept = true
			f.values = e.value.items
			ok = c.sweep(e.value, n.get("zip") != nil) && ok
		case "value":
			f.values = []*node{e.value}
			c.bare(e.value)
		case "zip":
			f.zip = e.value.raw
			if e.value.kind != scalar || !namePattern.MatchString(e.value.raw) {
				c.fail(e.value.wrong(nameExpected))
				ok = false
			}
		case "per_replica":
			on, isBool := e.value.value.(bool)
			if !isBool {
				c.fail(e.value.wrong("true or false"))
			}
			if on {
				f.perReplica = e.value
			}
		default:
			f.strangers = append(f.strangers, e)
		}
	}
	switch {
	case f.strangers != nil:
		c.strangers(n, f.strangers)
		return
	case n.get("sweep") == nil && n.get("value") == nil:
		c.fail(n.missing("sweep", "sweep: [...], or value beside per_replica"))
		return
	case f.swept && n.get("value") != nil:
		c.fail(n.get("value").wrong("either value or sweep"))
		return
	case f.zip != "" && !f.swept:
		c.fail(n.get("zip").wrong("no zip without a sweep"))
		return
	case !ok:
		return
	}
	c.forms[n] = f
	if f.swept {
		c.paths[n] = path
	}
	c.zip(n, f)
}

// strangers says that a form has keys which it cannot have: misspelt ones or,
// where it is no form but for its flag, the parameters of a section.
func (c *checker) strangers(n *node, others []entry) {
	known := []string{"sweep", "value", "zip", "per_replica"}
	section := n.get("sweep") == nil && n.get("value") == nil
	for _, e := range others {
		section = section && param.Nearest(e.key, known) == ""
	}
	if section {
		c.fail(misplaced(n, others))
		return
	}
	for _, e := range others {
		c.fail(n.unknown(e, known))
	}
}

// misplaced is the error of zip or per_replica among other keys, where they
// were to be about one of these.
func misplaced(n *node, others []entry) *Error {
	flag := formKeys[slices.IndexFunc(formKeys, func(key string) bool { return n.get(key) != nil })]
	example := others[len(others)-1]
	for _, e := range others {
		if _, text := e.value.value.(string); e.value.kind == scalar && !text {
			example = e
			break
		}
	}
	err := n.get(flag).wrong(fmt.Sprintf("it inside the one value that it is about, such as %s: {value: %s, per_replica: true}", example.key, example.value.text()))
	if flag == "zip" {
		err.Expected = fmt.Sprintf("it inside the sweep that it is about, such as %s: {sweep: [%s], zip: %s}", example.key, example.value.text(), n.get(flag).text())
	}
	return err
}

// sweep checks the values of an axis.
func (c *checker) sweep(n *node, zipped bool) bool {
	if n.kind != list || len(n.items) == 0 {
		c.fail(n.wrong("a list of one or more values"))
		return false
	}
	seen := map[string]bool{}
	for _, item := range n.items {
		before := len(c.errs)
		c.bare(item)
		if len(c.errs) > before {
			continue
		}
		if label := item.label(); seen[label] && !zipped {
			c.fail(item.wrong("each value once"))
		} else {
			seen[label] = true
		}
	}
	return true
}

// zip holds an axis against the first one of the same zip.
func (c *checker) zip(n *node, f *form) {
	if f.zip == "" {
		return
	}
	first, ok := c.zips[f.zip]
	if !ok {
		c.zips[f.zip] = n
		return
	}
	if want := len(c.forms[first].values); len(f.values) != want {
		c.fail(n.get("sweep").wrong(fmt.Sprintf("%d values, as many as %s, which has the same zip", want, first.path)))
	}
}

// factors names every axis by the shortest dotted end of its path that no
// other path has.
func (c *checker) factors() map[*node]string {
	uses := map[string]map[string]bool{} // end -> paths
	for _, path := range c.paths {
		for end, more := path, true; more; _, end, more = strings.Cut(end, ".") {
			if uses[end] == nil {
				uses[end] = map[string]bool{}
			}
			uses[end][path] = true
		}
	}
	names := map[*node]string{}
	for n, path := range c.paths {
		names[n] = path
		for end, more := path, true; more; _, end, more = strings.Cut(end, ".") {
			if len(uses[end]) == 1 {
				names[n] = end
			}
		}
	}
	return names
}
