package expect

import (
	"strings"
	"testing"

	"switchyard/stages/experiment"
)

const head = "balls: [{name: b, bins: 100}]\nexpectations:\n"

func plan(t *testing.T, text string) (*Plan, error) {
	t.Helper()
	e, err := experiment.Load("f.yaml", []byte(head+text), experiment.Options{})
	if err != nil {
		return nil, err
	}
	return NewPlan(e)
}

func TestPlan(t *testing.T) {
	p, err := plan(t, `
  near: {published: p, value: -10, sql: select 1 as value, relation: {within: 0.1}, reason: r}
  about: {published: p, value: 0.3, sql: select 1 as value, relation: {plus_minus: 0.02}, reason: r}
  inside: {published: p, sql: select 1 as value, relation: {between: [1, 2]}, reason: r}
  more: {published: p, sql: select 1 as value, relation: {greater_than: 0}, reason: r, fixed_requests: true}
  less: {published: p, sql: "select 1 as value, 2 as other", relation: {less_than_column: other}, reason: r}
  order: {published: p, sql: select 1 as name, relation: {order: [a, b]}, reason: r}
  never: {published: p, value: 4.6, cannot_be_judged: nobody says at which rate}
`)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, x := range p.Expectations {
		texts = append(texts, x.Name+" "+x.Relation.Text)
	}
	want := "near -10 within 10 %|about 0.3 ± 0.02|inside 1 to 2|more > 0|less < other|order a, b|never "
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("relations\n%s\nexpected\n%s", got, want)
	}
	if r := p.Expectations[0].Relation; r.Lo != -11 || r.Hi != -9 {
		t.Errorf("a tenth around -10 is %v to %v", r.Lo, r.Hi)
	}
	if !p.Expectations[3].FixedRequests || p.Expectations[3].Value != nil || *p.Expectations[6].Value != 4.6 {
		t.Errorf("%+v", p.Expectations)
	}
}

func TestPlanErrors(t *testing.T) {
	for text, want := range map[string]string{
		"  x: {published: p, sql: s, relation: {grater_than: 1}, reason: r}":                    `f.yaml:3:40: expectations.x.relation.grater_than: unknown key: expected one of within, plus_minus, between, greater_than, less_than, greater_than_column, less_than_column, order; did you mean "greater_than"?`,
		"  x: {sql: s, relation: {greater_than: 1}, reason: r}":                                 "f.yaml:3:6: expectations.x.published: missing",
		"  x: {published: p, relation: {greater_than: 1}, reason: r}":                           "f.yaml:3:6: expectations.x.sql: missing: expected a query",
		"  x: {published: p, sql: s, reason: r}":                                                "f.yaml:3:6: expectations.x.relation: missing: expected one of within",
		"  x: {published: p, sql: s, relation: {greater_than: 1, less_than: 2}, reason: r}":     "expectations.x.relation: value",
		"  x: {published: p, sql: s, relation: {greater_than: 1}}":                              "expectations.x.reason: missing: expected why",
		"  x: {published: p, sql: s, relation: {within: 0.1}, reason: r}":                       "expectations.x.value: missing: expected the published figure, which within is about",
		"  x: {published: p, value: 0, sql: s, relation: {within: 0.1}, reason: r}":             "expectations.x.relation.within: value \"0.1\": expected plus_minus, since a share of 0 is 0",
		"  x: {published: p, sql: s, relation: {between: [2, 1]}, reason: r}":                   "f.yaml:3:49: expectations.x.relation.between: value",
		"  x: {published: p, sql: s, relation: {order: [a, a]}, reason: r}":                     "a is there twice",
		"  x: {published: p, sql: s, relation: {order: [a]}, reason: r}":                        "two names or more",
		"  x: {published: p, value: 1, sql: s, relation: {order: [a, b]}, reason: r}":           "no value: an order has none",
		"  x: {published: p, sql: s, relation: {less_than_column: value}, reason: r}":           "a column of the SQL beside value",
		"  x: {published: p, sql: s, relation: {less_than: 1}, reason: r, cannot_be_judged: c}": "no relation beside cannot_be_judged",
		"  x: {published: p, value: {sweep: [1, 2]}, sql: s, relation: {within: 1}, reason: r}": "axes and variants stand in",
		"  X.y: {published: p, cannot_be_judged: c}":                                            "f.yaml:3:3: expectations.X.y: not a name",
		"  - {name: x, published: p, cannot_be_judged: c}":                                      "a mapping of expectations by name",
		"  x: 1": "f.yaml:3:6: expectations.x: value \"1\": expected an expectation",
		"  x: {published: p, cannot_be_judged: c}\n  x: {published: p, cannot_be_judged: c}":                  "f.yaml:4:3: expectations.x: duplicate key",
		"  x: {published: p, sql: s, relation: {within: -1}, value: 1, reason: r}\n  y: {published: p, a: 1}": "f.yaml:4:21: expectations.y.a: unknown key",
	} {
		if _, err := plan(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error\n%v\nexpected\n%s", text, err, want)
		}
	}
}

// What config prints is the same plan.
func TestResolved(t *testing.T) {
	p, err := plan(t, "  x:\n    published: \"p: 'q'\"\n    sql: |\n      select 1 as value -- a # b\n      from balls\n    relation: {greater_than: 0.5}\n    reason: r\n")
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Load("", p.Experiment.Resolved(), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.Expectations[0], again.Expectations[0]
	if a.SQL != b.SQL || a.Published != b.Published || a.Relation.Text != b.Relation.Text {
		t.Errorf("%+v becomes %+v in\n%s", a, b, p.Experiment.Resolved())
	}
}

func TestPrint(t *testing.T) {
	rows := []Row{
		{Name: "a", Relation: "1 to 2", Ours: ptr(1.5), Lo: ptr(1.25), Hi: ptr(1.75), Verdict: string(Agrees)},
		{Name: "long-name", Published: "Q", PublishedValue: ptr(3), Relation: "> 2", Ours: ptr(12345.6), Verdict: string(Differs), Reason: "so"},
		{Name: "c", Verdict: string(Unclear), Note: "no rate"},
	}
	var b strings.Builder
	if err := Print(&b, rows); err != nil {
		t.Fatal(err)
	}
	want := `expectation  expected  ours              verdict
a            1 to 2    1.5 [1.25, 1.75]  agrees
long-name    > 2       12346             differs
c                                        cannot be judged

long-name: Q has 3; expected > 2: so
c: no rate
1 agrees, 1 differs, 1 cannot be judged
`
	if b.String() != want {
		t.Errorf("got\n%s\nexpected\n%s", b.String(), want)
	}
}

func TestSteadyRows(t *testing.T) {
	configs := map[string][]string{experiment.Simulate: {"1", "4"}}
	for _, c := range []struct{ name, columns, want string }{
		{"summary", "job,config,metric", "NOT (job = 'simulate' AND config IN (1, 4))"},
		{"comparisons", "job,config,baseline_config", "NOT (job = 'simulate' AND (config IN (1, 4) OR baseline_config IN (1, 4)))"},
		{"cells", "cell,config", "NOT config IN (1, 4)"},
		{"requests", "cell,request", "cell NOT IN (SELECT cell FROM read_parquet('cells/part-*.parquet') WHERE config IN (1, 4))"},
		{"dispatch", "config", ""},
		{"workload", "variant", ""},
	} {
		if got := steadyRows(c.name, strings.Split(c.columns, ","), configs); got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}
