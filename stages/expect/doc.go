// Package expect holds results against what was published, or against what
// their owner wants: section expectations of an experiment file, checked after
// aggregate, into table `expectations`.
//
//	expectations:
//	  round-robin-hits:
//	    published: "Example et al. (2024), table 2"
//	    value: 0.33                           # the published figure, where there is one
//	    sql: |
//	      select mean as value, lo, hi from summary
//	      where router = 'round-robin' and metric = 'prefix_hit_rate'
//	    relation: {plus_minus: 0.016}
//	    reason: two standard errors of the paper's five runs
//	  order-of-means:
//	    published: "section 4: shortest queue before two choices before random"
//	    sql: |
//	      select router as name, mean as value, lo, hi from summary
//	      where metric = 'e2e_mean_us' order by mean
//	    relation: {order: [least-requests, power-of-two, random]}
//	    reason: an order, no tolerance
//	  tail:
//	    published: "section 5: 4.6 s"
//	    value: 4.6
//	    cannot_be_judged: the paper does not say at which rate
//
// # The SQL
//
// It asks the experiment's tables, by the names and columns of `schema`, with
// the functions of views.sql (ci_lo, ci_hi, ratio_lo, ratio_hi). It is tried on
// empty tables before anything runs, so that a wrong name costs no night.
//
// A relation to numbers wants one row: column value and, where there is an
// interval of 95 %, lo and hi. An order wants a row a name, in their order:
// column name and, where wanted, value, lo and hi. Other columns are refused,
// but for the one that greater_than_column or less_than_column names.
//
// # Relations
//
//	within: 0.1                  value within a tenth of the published value
//	plus_minus: 0.016            value at most so far from it
//	between: [0.3, 0.34]         value from the one to the other
//	greater_than: 2              value above it; less_than: below
//	greater_than_column: other   value above column other; less_than_column: below
//	order: [a, b, c]             the rows' names come in this order
//
// An expectation has one of them, and a reason for it.
//
// # Verdicts
//
// A relation is a set of numbers in which the value should lie. Without an
// interval the value alone decides: agrees or differs. With one,
//
//   - agrees: all of the interval lies in the set; or the value does, and the
//     set is bounded on both sides and at least as wide as the interval. The
//     tolerance says how near is near enough, and an interval that is no wider
//     can say so;
//   - differs: none of the interval lies in the set;
//   - cannot be judged, too few replications: all else. The value lies in the
//     set but its interval is too wide to say so, or crosses the only bound; or
//     the value lies outside but its interval reaches in, so that chance may
//     have put it there. More replications decide it.
//
// An order agrees where the names come in it. Where two of them are swapped and
// both have intervals, which overlap, it cannot be judged; else it differs.
//
// Past saturation a number says how long the run was. Where the answer depends
// on a saturated configuration, which is found by asking once more without the
// rows of those, only an order is judged, unless the expectation says
// fixed_requests: true: the published figure belongs to this number of requests.
//
// Cannot be judged, too: an answer without a row or with NULL, such as for a
// router that --set left out, and what says cannot_be_judged, which names the
// fact that is missing. The latter may have SQL; its value then stands in the
// table.
//
// # Use
//
// DuckDB answers (package query), on one thread, so that equal tables give
// equal verdicts to the byte. Without it in the program nothing can be checked,
// and Run returns query.ErrNoDuckDB.
//
//	plan, err := expect.NewPlan(e)                 // *experiment.Error with file, line and column
//	err = plan.Try(ctx, schemas, factors)          // the SQL, on empty tables
//	rows, err := plan.Run(ctx, "out/quickstart")   // and table `expectations`
//	err = expect.Print(os.Stdout, rows)
package expect
