// Package param describes configurable things by the tags of their structs.
//
// A generator, a router policy, an engine or an arrival process is a plain
// struct. Its tags say all that the rest of the house needs to know: decoding
// an experiment file, `list`, `config`, validation and the keys of cells read
// the same description.
//
//	type Threshold struct {
//		Share float64  `yaml:"share" default:"0.5" min:"0" max:"1" doc:"least match over prompt that counts as affinity"`
//		Ties  string   `yaml:"ties" default:"random" enum:"random|first" doc:"which of equal replicas is taken"`
//		Rate  float64  `yaml:"rate_rps" required:"true" min:"0.001" unit:"1/s" per_replica:"true" doc:"mean arrival rate"`
//	}
//
// The tags are
//
//	yaml         the parameter's name; required; "-" leaves the field out
//	default      its value where none is given; absent means the zero value
//	required     "true": must be given, has no default
//	min, max     bounds, inclusive, of a number or of each number of a list
//	enum         the allowed values, a|b|c, of a string or of each of a list
//	unit         the unit, for people
//	doc          one line, required in practice by `list`
//	per_replica  "true": may be multiplied by the number of replicas
//
// A field is a bool, a string, an int, int32, int64, uint64, float64, or a
// list []string, []int, []float64; the default of a list has commas. A struct
// that is embedded stands for its fields. A named field of a struct type is a
// section: its parameters have dotted names, section.name.
//
// A struct may have a method Check() error for what bounds cannot say, such as
// an order between two parameters; it names the field by returning an *Error.
//
// Tags are written by programmers: a wrong one panics at first use. Values are
// written by users: a wrong one is an *Error.
package param

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Field describes one parameter.
type Field struct {
	Name       string // dotted where it lies in a section
	Kind       string // bool, int, number, text, or "list of" one of the last three
	Default    string // as Format prints it; "" with Required
	Unit, Doc  string
	Min, Max   *float64
	Enum       []string
	Required   bool
	PerReplica bool

	typ   reflect.Type
	index []int  // path to the field from the outermost struct
	text  string // the default as the tag has it
}

// Error is a parameter with an unusable value.
type Error struct {
	Field    string // the parameter's name
	Value    string // what it is, as Format prints it; "" when it is missing
	Expected string
}

func (e *Error) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: expected %s", e.Field, e.Expected)
	}
	return fmt.Sprintf("%s: value %s: expected %s", e.Field, e.Value, e.Expected)
}

// Fields returns the parameters of the struct that ptr points to, in the order
// of their declaration. It panics on a struct whose tags are wrong.
func Fields(ptr any) []Field {
	t := target(ptr).Type()
	fields := appendFields(nil, t, "", nil)
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.Name] {
			panic(fmt.Sprintf("param: %s has two parameters %s", t, f.Name))
		}
		seen[f.Name] = true
	}
	return fields
}

// target returns the struct that ptr points to.
func target(ptr any) reflect.Value {
	v := reflect.ValueOf(ptr)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("param: %T is not a pointer to a struct", ptr))
	}
	return v.Elem()
}

func appendFields(fields []Field, t reflect.Type, prefix string, index []int) []Field {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		name, tagged := sf.Tag.Lookup("yaml")
		switch {
		case name == "-":
		case sf.Anonymous && sf.Type.Kind() == reflect.Struct && !tagged:
			fields = appendFields(fields, sf.Type, prefix, at)
		case !sf.IsExported():
		case !tagged || name == "":
			panic(fmt.Sprintf("param: %s.%s has no yaml tag", t, sf.Name))
		case sf.Type.Kind() == reflect.Struct:
			fields = appendFields(fields, sf.Type, prefix+name+".", at)
		default:
			fields = append(fields, newField(t, sf, prefix+name, at))
		}
	}
	return fields
}

func newField(owner reflect.Type, sf reflect.StructField, name string, index []int) Field {
	fail := func(tag string) {
		panic(fmt.Sprintf("param: %s.%s: tag %s does not fit type %s", owner, sf.Name, tag, sf.Type))
	}
	f := Field{
		Name: name, Kind: kindOf(sf.Type), Unit: sf.Tag.Get("unit"), Doc: sf.Tag.Get("doc"),
		Required: sf.Tag.Get("required") == "true", PerReplica: sf.Tag.Get("per_replica") == "true",
		typ: sf.Type, index: index,
	}
	if f.Kind == "" {
		panic(fmt.Sprintf("param: %s.%s has type %s, which is no parameter's type", owner, sf.Name, sf.Type))
	}
	numeric := strings.HasSuffix(f.Kind, "int") || strings.HasSuffix(f.Kind, "number")
	if f.PerReplica && (!numeric || sf.Type.Kind() == reflect.Slice) {
		fail("per_replica")
	}
	for _, b := range []struct {
		tag string
		to  **float64
	}{{"min", &f.Min}, {"max", &f.Max}} {
		text, ok := sf.Tag.Lookup(b.tag)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !numeric {
			fail(b.tag)
		}
		*b.to = &x
	}
	if text := sf.Tag.Get("enum"); text != "" {
		if !strings.HasSuffix(f.Kind, "text") {
			fail("enum")
		}
		f.Enum = strings.Split(text, "|")
	}
	if f.Required {
		if _, ok := sf.Tag.Lookup("default"); ok {
			fail("default beside required")
		}
		return f
	}
	v := reflect.New(sf.Type).Elem()
	if f.text = sf.Tag.Get("default"); f.text != "" {
		if err := f.parse(v, f.text); err != nil {
			fail("default")
		}
	}
	if f.check(v) != nil {
		panic(fmt.Sprintf("param: %s.%s: default %q is outside its own bounds", owner, sf.Name, f.text))
	}
	f.Default = format(v)
	return f
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.String:
		return "text"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return "int"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.String, reflect.Int, reflect.Float64:
			return "list of " + kindOf(t.Elem())
		}
	}
	return ""
}

// parse sets v from a tag's text.
func (f *Field) parse(v reflect.Value, text string) error {
	if v.Kind() == reflect.Slice {
		parts := strings.Split(text, ",")
		list := reflect.MakeSlice(v.Type(), len(parts), len(parts))
		for i, part := range parts {
			if err := f.parse(list.Index(i), strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		v.Set(list)
		return nil
	}
	switch v.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err
	case reflect.String:
		v.SetString(text)
		return nil
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		return err
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
		return err
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && v.OverflowInt(n) {
			return strconv.ErrRange
		}
		v.SetInt(n)
		return err
	}
}

// Expected says in words which values the parameter takes.
func (f Field) Expected() string {
	what, many := map[string]string{
		"bool": "true or false", "text": "text", "int": "a whole number", "number": "a number",
		"list of text": "a list of texts", "list of int": "a list of whole numbers", "list of number": "a list of numbers",
	}[f.Kind], strings.HasPrefix(f.Kind, "list")
	switch {
	case f.Enum != nil && many:
		what = "a list of any of " + strings.Join(f.Enum, ", ")
	case f.Enum != nil:
		what = "one of " + strings.Join(f.Enum, ", ")
	case f.Min != nil && f.Max != nil:
		what += " from " + number(*f.Min) + " to " + f.most()
	case f.Min != nil:
		what += " of at least " + number(*f.Min)
	case f.Max != nil:
		what += " of at most " + f.most()
	}
	if f.Unit != "" {
		what += " (" + f.Unit + ")"
	}
	return what
}

// most prints the upper bound. That of int64 is no float64: the next one is.
func (f Field) most() string {
	if strings.HasSuffix(f.Kind, "int") && *f.Max == 1<<63 {
		return strconv.FormatInt(math.MaxInt64, 10)
	}
	return number(*f.Max)
}

// check returns what v should have been, or nil.
func (f *Field) check(v reflect.Value) *Error {
	if f.fits(v) {
		return nil
	}
	return &Error{Field: f.Name, Value: format(v), Expected: f.Expected()}
}

func (f *Field) fits(v reflect.Value) bool {
	inside := func(x float64) bool {
		return !math.IsNaN(x) && !math.IsInf(x, 0) && (f.Min == nil || x >= *f.Min) && (f.Max == nil || x <= *f.Max)
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if !f.fits(v.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Bool:
		return true
	case reflect.String:
		for _, allowed := range f.Enum {
			if v.String() == allowed {
				return true
			}
		}
		return f.Enum == nil
	case reflect.Float64:
		return inside(v.Float())
	case reflect.Uint64:
		return inside(float64(v.Uint()))
	default:
		return inside(float64(v.Int()))
	}
}
