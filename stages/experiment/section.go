package experiment

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"switchyard/sim/param"
)

// document is what the sections of one experiment share.
type document struct {
	dir string // of the file; "" for the working directory

	mu     sync.Mutex
	absent map[absentKey]*node
	filled map[*node]*defaults
}

type absentKey struct {
	parent *node
	key    string
}

// Section is a mapping of the file in which every choice has been made. Those
// of the same choice in the same mapping may be equal (==), and sections may
// be keys of maps. The zero Section is an empty one.
type Section struct {
	choice *choice
	doc    *document
}

// String returns the text of a scalar as it stands in the file.
func (s Section) String(key string) (value string, ok bool) {
	if s.choice == nil {
		return "", false
	}
	c := s.choice.get(key)
	if c == nil || c.value == nil || c.value.kind != scalar {
		return "", false
	}
	return c.value.raw, true
}

// Keys returns the section's keys in the order of the file.
func (s Section) Keys() []string {
	if s.choice == nil {
		return nil
	}
	keys := make([]string, len(s.choice.entries))
	for i, e := range s.choice.entries {
		keys[i] = e.key
	}
	return keys
}

// Section returns the section under key; ok is false where there is none.
func (s Section) Section(key string) (below Section, ok bool) {
	if s.choice == nil {
		return Section{}, false
	}
	c := s.choice.get(key)
	if c == nil || c.below == nil {
		return Section{}, false
	}
	return Section{choice: c.below, doc: s.doc}, true
}

// Errorf returns an *Error at the value of key, which may be dotted, for what
// only the caller can know, such as that no router has this name; known are
// the names to choose from, or nil.
func (s Section) Errorf(key, expected string, known []string) error {
	if s.choice == nil {
		return &Error{Path: key, Problem: "missing", Expected: expected}
	}
	return s.choice.errorf(key, expected, known)
}

func (c *choice) errorf(key, expected string, known []string) *Error {
	found := c.find(key)
	if found == nil {
		return c.source.missing(key, expected)
	}
	n := found.node()
	err := n.wrong(expected)
	if n.kind == scalar {
		err.Nearest = param.Nearest(n.raw, known)
	}
	return err
}

// find returns what the file has under a dotted key, or nil.
func (c *choice) find(key string) *chosen {
	for from := 0; from <= len(key); from++ {
		if from < len(key) && key[from] != '.' {
			continue
		}
		e := c.get(key[:from])
		switch {
		case e == nil:
		case from == len(key):
			return e
		case e.below != nil:
			return e.below.find(key[from+1:])
		}
	}
	return nil
}

// Decode fills structs with parameter tags from the section: each gets its
// defaults, then the values of the file, and is validated. Every key must
// belong to exactly one of the structs. A field of type Section takes a
// mapping as it is, to be decoded by someone else; it is an empty section
// where the file has none. Values with per_replica are multiplied by
// replicas. The error joins an *Error for everything that is wrong.
//
// What Decode fills in is remembered for Experiment.Resolved.
func (s Section) Decode(replicas int, into ...any) error {
	if s.choice == nil {
		s = Section{choice: &choice{source: &node{kind: mapping}}, doc: new(document)}
	}
	return Join(s.decode(replicas, nil, into...)...)
}

func (s Section) decode(replicas int, others []string, into ...any) []error {
	d := &decoder{doc: s.doc, replicas: replicas}
	var slots []slot
	for _, ptr := range into {
		param.Defaults(ptr)
		t := &target{ptr: ptr, section: s.choice, failed: map[string]bool{}}
		t.fields = map[string]param.Field{}
		for _, f := range param.Fields(ptr) {
			t.fields[f.Name] = f
		}
		d.targets = append(d.targets, t)
		slots = t.slots(slots, reflect.ValueOf(ptr).Elem(), "")
	}
	d.fill(s.choice, slots, others)
	for _, t := range d.targets {
		d.validate(t)
	}
	if d.errs == nil {
		d.remember()
	}
	return d.errs
}

// target is one struct to fill.
type target struct {
	ptr     any
	section *choice
	fields  map[string]param.Field
	failed  map[string]bool // dotted names that have an error already
}

// slot is a field that takes a key of a mapping.
type slot struct {
	target *target
	key    string        // in its mapping
	name   string        // dotted, from the target
	field  reflect.Value // a struct for a mapping, else a parameter
}

var sectionType = reflect.TypeFor[Section]()

// slots appends the fields of v, those of embedded structs among them.
func (t *target) slots(slots []slot, v reflect.Value, prefix string) []slot {
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		key := sf.Tag.Get("yaml")
		switch {
		case key == "-":
		case sf.Anonymous && key == "" && sf.Type.Kind() == reflect.Struct:
			slots = t.slots(slots, v.Field(i), prefix)
		case sf.IsExported():
			slots = append(slots, slot{target: t, key: key, name: prefix + key, field: v.Field(i)})
		}
	}
	return slots
}

type decoder struct {
	doc      *document
	replicas int
	targets  []*target
	errs     []error
	gaps     []gap
}

func (d *decoder) fail(err *Error) { d.errs = append(d.errs, err) }

// fill sets the slots from a mapping; others are keys that are read elsewhere.
func (d *decoder) fill(c *choice, slots []slot, others []string) {
	byKey := map[string]*slot{}
	known := slices.Clone(others)
	for i := range slots {
		s := &slots[i]
		if byKey[s.key] != nil {
			panic(fmt.Sprintf("experiment: %T and %T both have %s", byKey[s.key].target.ptr, s.target.ptr, s.key))
		}
		byKey[s.key] = s
		known = append(known, s.key)
	}
	d.gaps = append(d.gaps, gap{source: c.source})
	for i := range c.entries {
		e := &c.entries[i]
		if s := byKey[e.key]; s != nil {
			d.set(e, s)
			continue
		}
		for _, written := range c.source.entries {
			if written.key == e.key {
				d.fail(c.source.unknown(written, known))
			}
		}
	}
	for i := range slots {
		if c.get(slots[i].key) == nil {
			d.leave(c, &slots[i])
		}
	}
}

// set fills a slot from what the file has.
func (d *decoder) set(e *chosen, s *slot) {
	if s.field.Kind() == reflect.Struct {
		switch {
		case e.below == nil:
			s.target.failed[s.name] = true
			d.fail(e.value.wrong("a section of keys and values"))
		case s.field.Type() == sectionType:
			s.field.Set(reflect.ValueOf(Section{choice: e.below, doc: d.doc}))
		default:
			d.fill(e.below, s.target.slots(nil, s.field, s.name+"."), nil)
		}
		return
	}
	f := s.target.fields[s.name]
	fail := func(err *Error) {
		s.target.failed[s.name] = true
		d.fail(err)
	}
	if e.below != nil {
		fail(e.below.source.wrong(f.Expected()))
		return
	}
	value := e.value.plain()
	if e.perReplica != nil {
		if !f.PerReplica {
			fail(e.perReplica.wrong("no per_replica: " + s.key + " does not grow with the cluster"))
			return
		}
		value = times(value, d.replicas)
	}
	if err := param.Set(s.target.ptr, s.name, value); err != nil {
		expected := f.Expected() + e.value.quotes()
		if e.value.kind == list && !strings.HasPrefix(f.Kind, "list") {
			expected += ", or one after the other by {sweep: [...]}"
		}
		fail(e.value.wrong(expected))
	}
}

// times multiplies a number; anything else stays as it is, to be refused.
func times(value any, replicas int) any {
	switch x := value.(type) {
	case int64:
		if product := x * int64(replicas); replicas == 0 || product/int64(replicas) == x {
			return product
		}
		return float64(x) * float64(replicas)
	case uint64:
		return float64(x) * float64(replicas)
	case float64:
		return x * float64(replicas)
	}
	return value
}

// leave is for a slot that the file does not mention.
func (d *decoder) leave(c *choice, s *slot) {
	if s.field.Kind() == reflect.Struct {
		below := &choice{source: d.doc.missing(c.source, s.key)}
		d.gaps = append(d.gaps, gap{source: c.source, key: s.key, below: below.source})
		if s.field.Type() == sectionType {
			s.field.Set(reflect.ValueOf(Section{choice: below, doc: d.doc}))
		} else {
			d.fill(below, s.target.slots(nil, s.field, s.name+"."), nil)
		}
		return
	}
	f := s.target.fields[s.name]
	if f.Required {
		s.target.failed[s.name] = true
		d.fail(c.source.missing(s.key, f.Expected()))
		return
	}
	d.gaps = append(d.gaps, gap{source: c.source, key: s.key, value: param.Get(s.target.ptr, s.name)})
}

// missing returns the node of a mapping that parent lacks, always the same.
func (doc *document) missing(parent *node, key string) *node {
	doc.mu.Lock()
	defer doc.mu.Unlock()
	at := absentKey{parent, key}
	n := doc.absent[at]
	if n == nil {
		n = &node{kind: mapping, at: parent.at, path: join(parent.path, key), absent: true}
		if doc.absent == nil {
			doc.absent = map[absentKey]*node{}
		}
		doc.absent[at] = n
	}
	return n
}

// validate turns what param finds into errors with positions.
func (d *decoder) validate(t *target) {
	var each func(err error)
	each = func(err error) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				each(e)
			}
			return
		}
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			d.fail(t.section.source.wrong(err.Error()))
			return
		}
		for name := wrong.Field; name != ""; name = name[:max(0, strings.LastIndex(name, "."))] {
			if t.failed[name] {
				return
			}
		}
		e := t.section.errorf(wrong.Field, wrong.Expected, t.fields[wrong.Field].Enum)
		switch found := t.section.find(wrong.Field); {
		case found == nil: // a default
			e.Problem, e.Value = "", wrong.Value
		case found.perReplica != nil:
			e.Expected += fmt.Sprintf(", not %s on %d replicas", wrong.Value, d.replicas)
		}
		d.fail(e)
	}
	if err := param.Validate(t.ptr); err != nil {
		each(err)
	}
}
