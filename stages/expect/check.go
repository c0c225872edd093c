package expect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"switchyard/sim/param"
	"switchyard/stages/experiment"
	"switchyard/stages/query"
	"switchyard/stages/table"
)

// mostRows is how many rows of an answer are looked at.
const mostRows = 1000

// Try asks every SQL of the plan over empty tables, so that what is wrong with
// it is known before anything runs: schemas are the tables that the experiment
// writes, factors its swept values. Without DuckDB it finds nothing. Every error
// that is the file's is an *experiment.Error at the SQL.
func (p *Plan) Try(ctx context.Context, schemas []table.Schema, factors []table.Factor) (err error) {
	if len(p.Expectations) == 0 || !query.Available() {
		return nil
	}
	session, err := query.OpenEmpty(ctx, table.EmptyViews(schemas, factors))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	var errs []error
	for i := range p.Expectations {
		x := &p.Expectations[i]
		if x.SQL == "" {
			continue
		}
		reads, err := session.Reads(ctx, x.SQL)
		if err != nil {
			return err
		}
		if !reads {
			errs = append(errs, x.wrongSQL("one SELECT: an expectation changes nothing"))
			continue
		}
		answer, err := session.Ask(ctx, x.SQL, 0)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			errs = append(errs, x.wrongSQL("SQL that DuckDB takes, over tables %s: %s", nameList(schemas), strings.TrimPrefix(err.Error(), "query: ")))
		default:
			errs = append(errs, x.checkColumns(answer.Columns))
		}
	}
	return experiment.Join(errs...)
}

func nameList(schemas []table.Schema) string {
	names := make([]string, len(schemas))
	for i, s := range schemas {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

func (x *Expectation) wrongSQL(format string, values ...any) error {
	return x.section.Errorf("sql", fmt.Sprintf(format, values...), nil)
}

// checkColumns holds an answer's columns against those that are wanted.
func (x *Expectation) checkColumns(columns []string) error {
	must, may := x.Relation.columns()
	known := slices.Concat(must, may)
	for i, c := range columns {
		if slices.Contains(columns[:i], c) {
			return x.wrongSQL("each column once, and %s is there twice", c)
		}
		if !slices.Contains(known, c) {
			hint := ""
			if near := param.Nearest(c, known); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			return x.wrongSQL("columns %s, not %q%s", strings.Join(known, ", "), c, hint)
		}
	}
	for _, c := range must {
		if !slices.Contains(columns, c) {
			return x.wrongSQL("a column %s, which its columns %s lack", c, strings.Join(columns, ", "))
		}
	}
	return nil
}

// Run asks every SQL over the tables in dir, whose views are up to date, judges
// the answers, and writes table `expectations`. Without expectations it removes
// a table that an earlier run left. The error is query.ErrNoDuckDB where DuckDB
// is not there to ask.
func (p *Plan) Run(ctx context.Context, dir string) (rows []Row, err error) {
	if len(p.Expectations) == 0 {
		return nil, os.RemoveAll(filepath.Join(dir, Table.Name))
	}
	session, err := openWith(ctx, dir, "SET threads = 1;")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	steady, err := openSteady(ctx, dir, session)
	if err != nil {
		return nil, err
	}
	if steady != nil {
		defer func() { err = errors.Join(err, steady.Close()) }()
	}
	var errs []error
	for i := range p.Expectations {
		x := &p.Expectations[i]
		f, err := x.check(ctx, session, steady)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows, errs = append(rows, x.row(i, f)), append(errs, err)
	}
	if err := experiment.Join(errs...); err != nil {
		return nil, err
	}
	return rows, Table.Write(dir, rows, table.Provenance{Experiment: p.Experiment.Name})
}

func openWith(ctx context.Context, dir, statements string) (*query.Session, error) {
	session, err := query.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := session.Do(ctx, statements); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return session, nil
}

// check asks and judges; steady, where it is not nil, has the tables without
// saturated configurations.
func (x *Expectation) check(ctx context.Context, session, steady *query.Session) (finding, error) {
	if x.SQL == "" {
		return finding{verdict: Unclear, note: x.Impossible}, nil
	}
	answer, err := session.Ask(ctx, x.SQL, mostRows)
	if err != nil {
		return finding{}, x.wrongSQL("SQL that DuckDB can answer: %s", strings.TrimPrefix(err.Error(), "query: "))
	}
	if err := x.checkColumns(answer.Columns); err != nil {
		return finding{}, err
	}
	f, err := x.Relation.judge(answer)
	if err != nil {
		return finding{}, x.wrongSQL("SQL %v", err)
	}
	switch {
	case x.Impossible != "":
		f.verdict, f.note = Unclear, x.Impossible
	case steady == nil || x.FixedRequests || x.Relation.Order != nil || f.verdict == Unclear && f.value == nil:
	default:
		without, err := steady.Ask(ctx, x.SQL, mostRows)
		if err != nil || !reflect.DeepEqual(answer, without) {
			f.verdict = Unclear
			f.note = "it depends on a saturated configuration, whose numbers say how long the run was; fixed_requests: true judges them all the same"
		}
	}
	return f, nil
}

func (x *Expectation) row(i int, f finding) Row {
	return Row{
		Position: int32(i), Name: x.Name, Published: x.Published, PublishedValue: x.Value,
		Ours: f.value, Lo: f.lo, Hi: f.hi, Found: f.found,
		Relation: x.Relation.Text, Verdict: string(f.verdict), Note: f.note, Reason: x.Reason,
		FixedRequests: x.FixedRequests, SQL: x.SQL,
	}
}
