package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"switchyard/sim/param"
)

// override applies one --set path=value to the tree. The items of a path are
// keys of mappings, and names, indexes or * (all) of lists; what is not there
// yet is made, below the top and outside of lists.
func override(root *node, option string) []error {
	at := position{file: "--set " + option}
	path, text, ok := strings.Cut(option, "=")
	if !ok || strings.TrimSpace(path) == "" || !utf8.ValidString(path) {
		return []error{&Error{File: at.file, Problem: "not an override", Expected: "path=value, such as seed=2"}}
	}
	value, errs := parse(at.file, []byte(text), true)
	if errs != nil {
		return errs
	}
	// [2] is an item like any other: a[2].b is a.2.b
	path = strings.NewReplacer("[", ".", "]", "").Replace(strings.TrimSpace(path))
	o := &overriding{at: at, value: value}
	o.set(root, "", path)
	return o.errs
}

type overriding struct {
	at    position
	value *node
	errs  []error
}

func (o *overriding) fail(path, problem, expected, nearest string) {
	o.errs = append(o.errs, &Error{File: o.at.file, Path: path, Problem: problem, Expected: expected, Nearest: nearest})
}

// set walks from n, which is called path, along rest.
func (o *overriding) set(n *node, path, rest string) {
	switch n.kind {
	case list:
		o.setItem(n, path, rest)
	case mapping:
		key, below, deeper := strings.Cut(rest, ".")
		if key == "" {
			o.fail(path, "an empty item in the path", "path=value, such as seed=2", "")
			return
		}
		if !deeper {
			n.put(key, o.value.copy())
			return
		}
		next := n.get(key)
		if next == nil {
			next = &node{kind: mapping, at: o.at}
			n.put(key, next)
		}
		o.set(next, join(path, key), below)
	default:
		o.fail(path, fmt.Sprintf("value %q has nothing below it", n.text()), "a path that ends here", "")
	}
}

// setItem replaces an item of a list, or goes on below it. A name may have
// dots, so the longest name that the rest begins with is taken.
func (o *overriding) setItem(n *node, path, rest string) {
	var names []string
	best, length := []int(nil), -1
	consider := func(name string, index int) {
		if len(name) > length && (rest == name || strings.HasPrefix(rest, name+".")) {
			best, length = []int{index}, len(name)
		}
	}
	for i, item := range n.items {
		if name := item.get("name"); item.kind == mapping && name != nil && name.raw != "" {
			names = append(names, name.raw)
			consider(name.raw, i)
		}
	}
	if best == nil {
		for i := range n.items {
			consider(strconv.Itoa(i), i)
		}
	}
	if rest == "*" || strings.HasPrefix(rest, "*.") {
		length = 1
		for i := range n.items {
			best = append(best, i)
		}
	}
	if best == nil {
		name, _, _ := strings.Cut(rest, ".")
		expected := fmt.Sprintf("* or an index below %d", len(n.items))
		if names != nil {
			expected = "one of " + strings.Join(names, ", ") + ", " + expected
		}
		o.fail(join(path, name), "no such item", expected, param.Nearest(name, names))
		return
	}
	below := strings.TrimPrefix(rest[length:], ".")
	for _, i := range best {
		if below == "" {
			n.items[i] = o.value.copy()
			continue
		}
		o.set(n.items[i], fmt.Sprintf("%s[%d]", path, i), below)
	}
}

// copy returns a tree of its own, for a value that goes to several places.
func (n *node) copy() *node {
	out := *n
	out.items = slices.Clone(n.items)
	for i := range out.items {
		out.items[i] = out.items[i].copy()
	}
	out.entries = slices.Clone(n.entries)
	for i := range out.entries {
		out.entries[i].value = out.entries[i].value.copy()
	}
	return &out
}
