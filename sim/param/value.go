package param

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Defaults sets every parameter of the struct that ptr points to to its
// default, those that are required to zero.
func Defaults(ptr any) {
	v := target(ptr)
	for _, f := range Fields(ptr) {
		f.reset(v.FieldByIndex(f.index))
	}
}

func (f *Field) reset(v reflect.Value) {
	v.SetZero()
	if f.text != "" {
		if err := f.parse(v, f.text); err != nil {
			panic("param: " + err.Error()) // newField has parsed it before
		}
	}
}

// Validate checks every parameter of the struct that ptr points to against its
// bounds, then calls the Check methods of the struct and its sections. The
// result joins an *Error for each wrong parameter.
func Validate(ptr any) error {
	v := target(ptr)
	var errs []error
	for _, f := range Fields(ptr) {
		if err := f.check(v.FieldByIndex(f.index)); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 { // a Check may rely on the bounds
		errs = crossChecks(errs, v, "")
	}
	return errors.Join(errs...)
}

func crossChecks(errs []error, v reflect.Value, prefix string) []error {
	if c, ok := v.Addr().Interface().(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			var wrong *Error
			if prefix != "" && errors.As(err, &wrong) {
				err = &Error{Field: prefix + wrong.Field, Value: wrong.Value, Expected: wrong.Expected}
			}
			errs = append(errs, err)
		}
	}
	t := v.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		if name := sf.Tag.Get("yaml"); sf.IsExported() && sf.Type.Kind() == reflect.Struct && name != "" && name != "-" {
			errs = crossChecks(errs, v.Field(i), prefix+name+".")
		}
	}
	return errs
}

// Set gives the parameter called name a value: a bool, a string, an int64, a
// uint64, a float64, or a []any of them. A whole number may stand for any
// number, a float64 without a fraction for a whole number; nothing else is
// converted. Bounds are Validate's business. The error is an *Error.
func Set(ptr any, name string, value any) error {
	v := target(ptr)
	for _, f := range Fields(ptr) {
		if f.Name != name {
			continue
		}
		to := reflect.New(f.typ).Elem()
		if !assign(to, value) {
			return &Error{Field: name, Value: Format(value), Expected: f.Expected()}
		}
		v.FieldByIndex(f.index).Set(to)
		return nil
	}
	panic(fmt.Sprintf("param: %T has no parameter %s", ptr, name))
}

// assign sets v where its type takes value, and reports whether it did.
func assign(v reflect.Value, value any) bool {
	switch x := value.(type) {
	case bool:
		if v.Kind() != reflect.Bool {
			return false
		}
		v.SetBool(x)
	case string:
		if v.Kind() != reflect.String {
			return false
		}
		v.SetString(x)
	case int64:
		switch v.Kind() {
		case reflect.Float64:
			v.SetFloat(float64(x))
		case reflect.Uint64:
			v.SetUint(uint64(x))
			return x >= 0
		case reflect.Int, reflect.Int32, reflect.Int64:
			v.SetInt(x)
			return !v.OverflowInt(x)
		default:
			return false
		}
	case uint64:
		switch v.Kind() {
		case reflect.Uint64:
			v.SetUint(x)
		case reflect.Float64:
			v.SetFloat(float64(x))
		default:
			return x <= 1<<63-1 && assign(v, int64(x))
		}
	case float64:
		if v.Kind() == reflect.Float64 {
			v.SetFloat(x)
			return true
		}
		return x >= -1<<63 && x < 1<<63 && x == float64(int64(x)) && assign(v, int64(x))
	case []any:
		if v.Kind() != reflect.Slice {
			return false
		}
		list := reflect.MakeSlice(v.Type(), len(x), len(x))
		for i, item := range x {
			if !assign(list.Index(i), item) {
				return false
			}
		}
		v.Set(list)
	default:
		return false
	}
	return true
}

// Get returns the value of a parameter as Set takes it.
func Get(ptr any, name string) any {
	v := target(ptr)
	for _, f := range Fields(ptr) {
		if f.Name == name {
			return plain(v.FieldByIndex(f.index))
		}
	}
	panic(fmt.Sprintf("param: %T has no parameter %s", ptr, name))
}

func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Float64:
		return v.Float()
	case reflect.Uint64:
		return v.Uint()
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	default:
		return v.Int()
	}
}

// Canonical returns the identity of the parameters of the struct that ptr
// points to: "name=value", sorted by name, without those at their default, so
// that a new parameter with a default changes no identity. Sections give
// section.name=value.
func Canonical(ptr any) []string {
	v := target(ptr)
	out := []string{}
	for _, f := range Fields(ptr) {
		if text := format(v.FieldByIndex(f.index)); f.Required || text != f.Default {
			out = append(out, f.Name+"="+text)
		}
	}
	slices.Sort(out)
	return out
}

// Nest puts canonical parameters into a section called name.
func Nest(name string, canonical []string) []string {
	out := make([]string, len(canonical))
	for i, c := range canonical {
		out[i] = name + "." + c
	}
	return out
}

// Format prints a value as Set takes it so that different values differ:
// numbers in the fewest digits that read back as the same, strings quoted
// where they hold anything but letters, digits and . _ / : -, lists in
// brackets.
func Format(value any) string { return format(reflect.ValueOf(value)) }

func format(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Interface:
		return format(v.Elem())
	case reflect.Invalid:
		return "null"
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.String:
		return quote(v.String())
	case reflect.Float64:
		return number(v.Float())
	case reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Int, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = format(v.Index(i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	panic("param: cannot print a " + v.Type().String())
}

// number prints whole numbers of up to 15 digits as such and the rest as
// strconv does, so that 1000 and 1e3 have one form.
func number(x float64) string {
	if x == float64(int64(x)) && x > -1e15 && x < 1e15 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func quote(s string) string {
	plain := s != ""
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/:-", r)) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}
