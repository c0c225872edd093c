package param

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type base struct {
	Count int `yaml:"count" default:"10" min:"1" per_replica:"true" doc:"how many"`
}

type inner struct {
	Rate float64 `yaml:"rate_rps" required:"true" min:"0.001" unit:"1/s" per_replica:"true" doc:"mean rate"`
	Kind string  `yaml:"kind" default:"poisson" enum:"poisson|gamma" doc:"process"`
}

type opaque struct{ hidden int }

type sample struct {
	base
	Share   float64   `yaml:"share" default:"0.5" min:"0" max:"1" unit:"share" doc:"a share"`
	Small   int32     `yaml:"small" doc:"narrow"`
	Wide    int64     `yaml:"wide" default:"-1" doc:"wide"`
	Seed    uint64    `yaml:"seed" doc:"unsigned"`
	On      bool      `yaml:"on" default:"true" doc:"switch"`
	Name    string    `yaml:"name" default:"a b" doc:"free text"`
	Tags    []string  `yaml:"tags" default:"x,y" doc:"texts"`
	Sizes   []int     `yaml:"sizes" min:"1" doc:"whole numbers"`
	Weights []float64 `yaml:"weights" default:"1,0.5" min:"0" doc:"numbers"`
	Arrival inner     `yaml:"arrival"`
	Raw     opaque    `yaml:"raw"`
	State   int       `yaml:"-"`
}

func (s *sample) Check() error {
	if s.Small > int32(s.Count) {
		return &Error{Field: "small", Value: Format(s.Small), Expected: "at most count"}
	}
	return nil
}

func ready() *sample {
	s := new(sample)
	Defaults(s)
	s.Arrival.Rate = 2
	return s
}

func TestFields(t *testing.T) {
	var names, expected []string
	for _, f := range Fields(new(sample)) {
		names = append(names, f.Name+"="+f.Default)
		expected = append(expected, f.Expected())
	}
	want := []string{"count=10", "share=0.5", "small=0", "wide=-1", "seed=0", "on=true", `name="a b"`, "tags=[x,y]",
		"sizes=[]", "weights=[1,0.5]", "arrival.rate_rps=", "arrival.kind=poisson"}
	if !slices.Equal(names, want) {
		t.Errorf("fields are\n%q, want\n%q", names, want)
	}
	want = []string{"a whole number of at least 1", "a number from 0 to 1 (share)", "a whole number", "a whole number",
		"a whole number", "true or false", "text", "a list of texts", "a list of whole numbers of at least 1",
		"a list of numbers of at least 0", "a number of at least 0.001 (1/s)", "one of poisson, gamma"}
	if !slices.Equal(expected, want) {
		t.Errorf("expectations are\n%q, want\n%q", expected, want)
	}
	if f := Fields(new(sample))[0]; !f.PerReplica || f.Doc != "how many" || *f.Min != 1 || f.Max != nil || f.Required {
		t.Errorf("count is %+v", f)
	}
}

func TestDefaults(t *testing.T) {
	s := &sample{Small: 9, State: 7}
	Defaults(s)
	want := &sample{base: base{10}, Share: .5, Wide: -1, On: true, Name: "a b", Tags: []string{"x", "y"},
		Weights: []float64{1, .5}, Arrival: inner{Kind: "poisson"}, State: 7}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("defaults are %+v, want %+v", s, want)
	}
	other := new(sample)
	Defaults(other)
	if s.Weights[0] = 3; other.Weights[0] != 1 {
		t.Error("two structs share one default list")
	}
}

func TestCanonical(t *testing.T) {
	s := ready()
	if got, want := Canonical(s), []string{"arrival.rate_rps=2"}; !slices.Equal(got, want) {
		t.Errorf("at defaults: %q, want %q", got, want)
	}
	s.Share, s.Tags, s.Wide, s.Arrival.Rate, s.Name = 0.30000000000000004, []string{"a,b", "a", ""}, 1<<60, 1e3, "plain"
	want := []string{"arrival.rate_rps=1000", "name=plain", "share=0.30000000000000004", `tags=["a,b",a,""]`, "wide=1152921504606846976"}
	if got := Canonical(s); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Nest("x", []string{"a=1"}); got[0] != "x.a=1" {
		t.Errorf("nested: %q", got)
	}
}

func TestFormatTellsValuesApart(t *testing.T) {
	values := []any{"", "a", "a,b", []any{"a", "b"}, []any{"a,b"}, []any{"[a", "b]"}, []any{}, []any{""}, 1.5, 1e300, 1e15, 1e-9,
		"true b", "[]", "x=1", "é", "\n", math.MaxFloat64, uint64(math.MaxUint64)}
	seen := map[string]any{}
	for _, v := range values {
		text := Format(v)
		if other, ok := seen[text]; ok {
			t.Errorf("%#v and %#v both print as %s", v, other, text)
		}
		seen[text] = v
	}
	for _, x := range []float64{0, 1, -1, .1, 1e15 - 1, 1e15, 1e16, 123456789.5, 5e-324, math.MaxFloat64} {
		s := new(sample)
		f := Fields(s)[1]
		if err := f.parse(reflect.ValueOf(&s.Share).Elem(), Format(x)); err != nil || s.Share != x {
			t.Errorf("%v prints as %s, which reads as %v", x, Format(x), s.Share)
		}
	}
}

func TestSetAndGet(t *testing.T) {
	s := ready()
	for _, c := range []struct {
		name  string
		value any
		want  any
		fails string
	}{
		{name: "count", value: int64(3), want: int64(3)},
		{name: "count", value: 1e3, want: int64(1000)},
		{name: "count", value: 1.5, fails: "count: value 1.5: expected a whole number of at least 1"},
		{name: "count", value: "3", fails: "count: value 3: expected a whole number of at least 1"},
		{name: "count", value: math.Inf(1), fails: "count: value +Inf: expected a whole number of at least 1"},
		{name: "count", value: math.NaN(), fails: "count: value NaN: expected a whole number of at least 1"},
		{name: "small", value: int64(1) << 31, fails: "small: value 2147483648: expected a whole number"},
		{name: "wide", value: uint64(1) << 63, fails: "wide: value 9223372036854775808: expected a whole number"},
		{name: "wide", value: 0x1p63, fails: "wide: value 9.223372036854776e+18: expected a whole number"},
		{name: "wide", value: -0x1p63, want: int64(math.MinInt64)},
		{name: "seed", value: uint64(math.MaxUint64), want: uint64(math.MaxUint64)},
		{name: "seed", value: int64(-1), fails: "seed: value -1: expected a whole number"},
		{name: "share", value: int64(1), want: 1.0},
		{name: "share", value: true, fails: "share: value true: expected a number from 0 to 1 (share)"},
		{name: "on", value: false, want: false},
		{name: "on", value: int64(0), fails: "on: value 0: expected true or false"},
		{name: "name", value: "x", want: "x"},
		{name: "name", value: int64(1), fails: "name: value 1: expected text"},
		{name: "tags", value: []any{"p"}, want: []any{"p"}},
		{name: "tags", value: []any{}, want: []any{}},
		{name: "tags", value: "p", fails: "tags: value p: expected a list of texts"},
		{name: "sizes", value: []any{int64(1), 2.0}, want: []any{int64(1), int64(2)}},
		{name: "sizes", value: []any{int64(1), nil}, fails: "sizes: value [1,null]: expected a list of whole numbers of at least 1"},
		{name: "weights", value: []any{int64(1), .5}, want: []any{1.0, .5}},
		{name: "arrival.rate_rps", value: 4.5, want: 4.5},
		{name: "share", value: nil, fails: "share: value null: expected a number from 0 to 1 (share)"},
	} {
		before := Get(s, c.name)
		err := Set(s, c.name, c.value)
		if c.fails != "" {
			if err == nil || err.Error() != c.fails {
				t.Errorf("%s = %v: error %v, want %s", c.name, c.value, err, c.fails)
			}
			c.want = before
		} else if err != nil {
			t.Errorf("%s = %v: %v", c.name, c.value, err)
		}
		if got := Get(s, c.name); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s = %#v gives %#v, want %#v", c.name, c.value, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := Validate(ready()); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*sample){
		"count: value 0: expected a whole number of at least 1":                                                         func(s *sample) { s.Count = 0 },
		"share: value 1.5: expected a number from 0 to 1 (share)":                                                       func(s *sample) { s.Share = 1.5 },
		"share: value NaN: expected a number from 0 to 1 (share)":                                                       func(s *sample) { s.Share = math.NaN() },
		"arrival.rate_rps: value 0: expected a number of at least 0.001 (1/s)":                                          func(s *sample) { s.Arrival.Rate = 0 },
		"arrival.rate_rps: value +Inf: expected a number of at least 0.001 (1/s)":                                       func(s *sample) { s.Arrival.Rate = math.Inf(1) },
		`arrival.kind: value "uni form": expected one of poisson, gamma`:                                                func(s *sample) { s.Arrival.Kind = "uni form" },
		"sizes: value [1,0]: expected a list of whole numbers of at least 1":                                            func(s *sample) { s.Sizes = []int{1, 0} },
		"weights: value [-1]: expected a list of numbers of at least 0":                                                 func(s *sample) { s.Weights = []float64{-1} },
		"small: value 11: expected at most count":                                                                       func(s *sample) { s.Small = 11 },
		"count: value 0: expected a whole number of at least 1\nshare: value -1: expected a number from 0 to 1 (share)": func(s *sample) { s.Count, s.Share, s.Small = 0, -1, 5 },
	} {
		s := ready()
		spoil(s)
		err := Validate(s)
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
			continue
		}
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%v is no *Error", err)
		}
	}
}

func TestWrongTagsPanic(t *testing.T) {
	for want, ptr := range map[string]any{
		"no yaml tag": new(struct{ A int }),
		"no parameter's type": new(struct {
			A float32 `yaml:"a"`
		}),
		"tag min": new(struct {
			A string `yaml:"a" min:"1"`
		}),
		"tag enum": new(struct {
			A int `yaml:"a" enum:"1|2"`
		}),
		"tag default does": new(struct {
			A int32 `yaml:"a" default:"3000000000"`
		}),
		"tag default beside": new(struct {
			A int `yaml:"a" default:"3" required:"true"`
		}),
		"outside its own bounds": new(struct {
			A int `yaml:"a" min:"1"`
		}),
		"tag per_replica": new(struct {
			A []int `yaml:"a" per_replica:"true"`
		}),
		"two parameters a": new(struct {
			A, B int `yaml:"a"`
		}),
		"is not a pointer to a struct": 3,
	} {
		func() {
			defer func() {
				if got, ok := recover().(string); !ok || !strings.Contains(got, want) {
					t.Errorf("panic %q, want one with %q", got, want)
				}
			}()
			Fields(ptr)
		}()
	}
}

func TestNearest(t *testing.T) {
	known := []string{"random", "round-robin", "least-requests", "least-tokens", "cache-aware", "rate_rps", "prefix-threshold"}
	for name, want := range map[string]string{
		"randon": "random", "round_robin": "round-robin", "Round-Robin": "round-robin", "round": "round-robin",
		"least-request": "least-requests", "least-toekns": "least-tokens", "cache-awrae": "cache-aware",
		"rate-rps": "rate_rps", "least": "", "x": "", "": "", "threshold": "", "prefix": "prefix-threshold", "qqqqqq": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
	if got := Nearest("ab", []string{"ac", "ad"}); got != "ac" {
		t.Errorf("of two equally near names %q is taken", got)
	}
}

// TestDistance compares with the textbook recursion.
func TestDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		n, m := len(a)-1, len(b)-1
		cost := 1
		if a[n] == b[m] {
			cost = 0
		}
		d := min(slow(a[:n], b[:m])+cost, slow(a[:n], b)+1, slow(a, b[:m])+1)
		if n > 0 && m > 0 && a[n] == b[m-1] && a[n-1] == b[m] {
			d = min(d, slow(a[:n-1], b[:m-1])+1)
		}
		return d
	}
	words := []string{"", "a", "ab", "ba", "abc", "acb", "cabd", "bcad", "abab"}
	for _, a := range words {
		for _, b := range words {
			if got, want := distance([]rune(a), []rune(b)), slow(a, b); got != want {
				t.Errorf("distance of %q and %q is %d, want %d", a, b, got, want)
			}
		}
	}
}
