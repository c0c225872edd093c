package aggregate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"switchyard/stages/experiment"
	"switchyard/stages/stats"
)

const (
	printWidth   = 100
	mostPoints   = 24 // blocks printed of a job; the tables hold all
	mostLabel    = 30 // runes of a router's label, and of the baseline's in a heading
	mostWarnings = 8
)

// Print writes the result for a person: a block a point, its routers ranked by
// mean end-to-end latency, saturated ones last, at most 100 columns wide, then
// what the marks mean and the warnings. It is plain text wherever it goes.
func (r *Result) Print(w io.Writer) error {
	out := bufio.NewWriter(w)
	findings := &legend{}
	var configs, balls []*configuration
	var blocks []*point
	for _, p := range r.points {
		configs = append(configs, p.configs...)
		if p.job == experiment.Balls {
			balls = append(balls, p.configs...)
		} else {
			blocks = append(blocks, p)
		}
	}
	if len(balls) > 0 {
		printBalls(out, balls, findings)
	}
	printed := map[string]int{} // by job
	for i, p := range blocks {
		last := i+1 == len(blocks) || blocks[i+1].job != p.job
		if printed[p.job]++; printed[p.job] > mostPoints {
			if last {
				fmt.Fprintf(out, "... and %d more points: see table summary.\n\n", printed[p.job]-mostPoints)
			}
			continue
		}
		switch p.job {
		case experiment.Choose:
			p.printChosen(out, findings)
		case experiment.Serve:
			p.printDeployed(out, findings)
		default:
			p.print(out, findings)
		}
	}
	findings.print(out)
	printWarnings(out, r.Warnings, configs)
	return out.Flush()
}

// legend is what the blocks used and the foot has to explain.
type legend struct{ intervals, tails, ratios, ties, saturated, none, single, theory, gains, curves bool }

func (l *legend) print(w io.Writer) {
	if l.intervals {
		text := "±     half of the mean's 95 % t interval over replications"
		if l.tails {
			text += " (p99: of the replications' p99)"
		}
		if l.gains {
			text += "; over pools"
		}
		fmt.Fprintln(w, text)
	}
	if l.gains {
		fmt.Fprintln(w, "gain  test accuracy over the best single model's; all are chosen on training questions")
	}
	if l.curves {
		fmt.Fprintln(w, "AIQ   mean accuracy from the cheapest to the dearest model's cost, over settings and their mixes")
	}
	if l.ratios {
		fmt.Fprintln(w, "[ ]   95 % interval of the ratio of mean latencies (Fieller), paired by replication")
	}
	if l.theory {
		fmt.Fprintln(w, "SE    standard errors between mean and steady-state theory; a short run that starts empty lies below")
	}
	if l.ties {
		fmt.Fprintln(w, "=     not told apart from the best of that rank (paired t test, Holm's correction, 5 %)")
	}
	if l.saturated {
		fmt.Fprintln(w, "sat.  saturated: cannot keep up with its arrivals; latency depends on the run's length, no ratio")
	}
	if l.none {
		fmt.Fprintln(w, "none  no rank: nothing that was measured there was served")
	}
	if l.single {
		fmt.Fprintln(w, "One replication has no intervals: differences may be chance.")
	}
}

// print writes the point's block.
func (p *point) print(w io.Writer, l *legend) {
	list := p.ranking()
	fmt.Fprintln(w, clip(join(" on ", p.load(), p.cluster), printWidth))
	wrap(w, "", p.title())
	unit, scale := timeUnit(list)
	p.printBounds(w, list, unit, scale)
	columns := []column{
		{head: "", left: true}, {head: "router", left: true},
		{head: "mean E2E, " + unit}, {head: "p99 E2E, " + unit}, {head: "hit rate"},
	}
	third := func(c *ranked) string { return percent(stats.Mean(present(c.of(hitRate)))) }
	if p.job == experiment.Dispatch {
		columns[1].head, columns[2].head, columns[3].head = "policy", "mean response", "p99"
		columns[4] = column{head: "theory", left: true}
		third = func(c *ranked) string { return c.againstTheory(l) }
	}
	if p.baseline != nil {
		columns = append(columns, column{head: "mean / " + clip(p.baseline.RouterPoint, mostLabel), left: true})
	}
	l.tails = true
	digits := 3
	if p.job == experiment.Dispatch {
		digits = 4 // they are held against theory
	}
	means, p99s := decimals(list, p.mean, scale, digits), decimals(list, p.tail, scale, 3)
	for i := range list {
		c := &list[i]
		cells := []string{
			c.rank, clip(c.RouterPoint, mostLabel),
			c.withHalf(p.mean, scale, means, l), c.withHalf(p.tail, scale, p99s, l), third(c),
		}
		if p.baseline != nil {
			cells = append(cells, c.ratioTo(p.baseline, l))
		}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, cells[k])
		}
		l.ties = l.ties || c.tied
		l.saturated = l.saturated || c.saturated
		l.none = l.none || c.class() == 2
		l.single = l.single || len(c.replications) == 1
	}
	printColumns(w, columns)
	fmt.Fprintln(w)
}

// load is the point's workload. A swept rate stands in it as the file has it;
// where that is a rate a replica, it says so, since tables have that of the
// whole cluster.
func (p *point) load() string {
	c := p.configs[0]
	for name, value := range c.Factors {
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil || c.RateRps == nil || c.Replicas < 2 || name != "rate_rps" && !strings.HasSuffix(name, ".rate_rps") {
			continue
		}
		if of := name + "=" + value; math.Abs(rate*float64(c.Replicas) / *c.RateRps - 1) < 1e-9 {
			words := strings.Split(p.workload, " ")
			if at := slices.Index(words, of); at >= 0 {
				words[at] += " a replica"
				return strings.Join(words, " ")
			}
		}
	}
	return p.workload
}

// title says what else the routers share.
func (p *point) title() string {
	var reps, requests, ceiling []float64
	for _, c := range p.configs {
		n := float64(len(c.replications))
		reps, requests = append(reps, n), append(requests, float64(c.measured)/n)
		if p.job == experiment.Simulate {
			ceiling = append(ceiling, present(c.of(hitCeiling))...)
		}
	}
	server := "replica"
	if p.job == experiment.Dispatch {
		server = "server"
	}
	text := span([]float64{float64(p.configs[0].Replicas)}, server)
	if rate := p.configs[0].RateRps; rate != nil {
		text += fmt.Sprintf(", %.4g/s offered", *rate)
	}
	switch source := p.configs[0].source; {
	case source == "recorded":
		text += ", recorded trace"
	case strings.HasPrefix(source, "resampled"):
		text += ", bootstrap of a trace (" + source + ")"
	}
	text += fmt.Sprintf(", %s of %s", span(reps, "replication"), span(requests, "measured request"))
	if len(ceiling) > 0 {
		text += ", hit ceiling " + percent(stats.Mean(ceiling))
	}
	return text
}

// span writes the least and the greatest of some numbers of things.
func span(x []float64, thing string) string {
	lo, hi := math.Round(slices.Min(x)), math.Round(slices.Max(x))
	text := thousands(lo)
	if lo != hi {
		text += "-" + thousands(hi)
	}
	text += " " + thing
	if hi != 1 {
		text += "s"
	}
	return text
}

// timeUnit chooses the unit of a block's latencies by the greatest mean that
// is not saturated, and returns what a microsecond is in it.
func timeUnit(list []ranked) (unit string, scale float64) {
	if list[0].Job != experiment.Simulate {
		return "", 1
	}
	most := math.NaN()
	for i := range list {
		if v := list[i].level; !(v <= most) && !math.IsNaN(v) && (!list[i].saturated || list[0].saturated) {
			most = v
		}
	}
	switch {
	case most < 1e3:
		return "us", 1
	case most < 1e6:
		return "ms", 1e-3
	}
	return "s", 1e-6
}

// decimals returns how many give the least value of a column so many digits;
// what is saturated does not count unless all is.
func decimals(list []ranked, name string, scale float64, digits int) int {
	least := math.NaN()
	for i := range list {
		if list[i].saturated && !list[0].saturated {
			continue
		}
		if v := stats.Mean(present(list[i].of(name))) * scale; v > 0 && !(v >= least) {
			least = v
		}
	}
	if math.IsNaN(least) {
		return 0
	}
	return min(max(digits-1-int(math.Floor(math.Log10(least))), 0), digits)
}

// withHalf writes a mean and half of its interval.
func (c *configuration) withHalf(name string, scale float64, digits int, l *legend) string {
	mean, in := stats.Interval(present(c.of(name)), level)
	switch {
	case math.IsNaN(mean):
		return "-"
	case !in.Exists():
		return fmt.Sprintf("%.*f", digits, mean*scale)
	}
	l.intervals = true
	return fmt.Sprintf("%.*f ± %.*f", digits, mean*scale, digits, (in.Hi-in.Lo)/2*scale)
}

// ratioTo writes the ratio of mean latencies to the baseline's.
func (c *configuration) ratioTo(base *configuration, l *legend) string {
	if c == base {
		return "baseline"
	}
	row := c.against(base, c.measures.of(c.mean))
	if row.Ratio == nil {
		return "-"
	}
	digits := 2
	if *row.Ratio < 0.1 {
		digits = 3
	} else if *row.Ratio >= 10 {
		digits = 1
	}
	text := fmt.Sprintf("%.*f", digits, *row.Ratio)
	if row.RatioLo != nil && row.RatioHi != nil {
		l.ratios = true
		text += fmt.Sprintf(" [%.*f, %.*f]", digits, *row.RatioLo, digits, *row.RatioHi)
	}
	return text
}

// kind is the warnings that differ in their numbers alone.
type kind struct {
	text  string // of the first configuration that has it, or of the worst
	many  bool   // others have other numbers
	count int    // configurations
	worst *configuration
	drift float64 // the worst one's, 0 where the warning is about something else
}

// drifts begins the warnings that a mean changes in the window.
const drifts = "mean latency "

// drifted is by how much the configuration's mean latency changes within the
// window, whichever way, for a warning that says so; 0 for others.
func (c *configuration) drifted(warning string) float64 {
	if !strings.HasPrefix(warning, drifts) {
		return 0
	}
	return math.Abs(stats.Mean(present(c.of(c.drift))))
}

// kindsOf gathers the warnings of the printed metrics, without those that the
// legend stands for.
func kindsOf(configs []*configuration) []kind {
	index := map[string]int{}
	var kinds []kind
	for _, c := range configs {
		of := slices.Concat(c.warningsOf(c.measures.of(c.mean)), c.warningsOf(c.measures.of(c.tail)))
		slices.Sort(of)
		for _, text := range slices.Compact(of) {
			if text == oneReplication || text == saturatedTiming || strings.HasPrefix(text, servedNothing) {
				continue
			}
			key := strings.Map(withoutNumbers, text)
			k, ok := index[key]
			if !ok {
				k = len(kinds)
				index[key], kinds = k, append(kinds, kind{text: text, worst: c, drift: c.drifted(text)})
			}
			kinds[k].many = kinds[k].many || kinds[k].text != text
			kinds[k].count++
			if d := c.drifted(text); d > kinds[k].drift {
				kinds[k].text, kinds[k].worst, kinds[k].drift = text, c, d
			}
		}
	}
	return kinds
}

// printWarnings writes the experiment's warnings, then each kind once.
func printWarnings(w io.Writer, general []string, configs []*configuration) {
	lines := slices.Clone(general)
	for _, k := range kindsOf(configs) {
		alike := ""
		if k.many {
			alike = "the like in "
		}
		where := ""
		if k.drift > 0 {
			where = ", most in " + k.worst.name()
		}
		lines = append(lines, fmt.Sprintf("%s (%s%d of %d configurations%s)", k.text, alike, k.count, len(configs), where))
	}
	for i, line := range lines {
		if i == mostWarnings {
			line = fmt.Sprintf("and %d more: see column warnings of table summary", len(lines)-i)
		}
		wrap(w, "warning: ", line)
		if i == mostWarnings {
			break
		}
	}
}

// wrap writes words behind a head, further lines indented below the first.
func wrap(w io.Writer, head, text string) {
	indent := strings.Repeat(" ", len(head))
	line := head
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > printWidth:
			fmt.Fprintln(w, line)
			line = indent
		default:
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

// withoutNumbers drops digits and signs, so that warnings of one kind are one.
func withoutNumbers(r rune) rune {
	if strings.ContainsRune("0123456789+-.,", r) {
		return -1
	}
	return r
}

// column is one column of a printed table.
type column struct {
	head  string
	left  bool
	cells []string
}

// printColumns aligns columns, numbers to the right, two blanks between.
func printColumns(w io.Writer, columns []column) {
	width := make([]int, len(columns))
	for k, c := range columns {
		width[k] = utf8.RuneCountInString(c.head)
		for _, text := range c.cells {
			width[k] = max(width[k], utf8.RuneCountInString(text))
		}
	}
	line := func(text func(c column) string) {
		var b strings.Builder
		for k, c := range columns {
			t := text(c)
			fill := strings.Repeat(" ", width[k]-utf8.RuneCountInString(t))
			if c.left {
				t += fill
			} else {
				t = fill + t
			}
			b.WriteString("  " + t)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	line(func(c column) string { return c.head })
	for i := range columns[0].cells {
		line(func(c column) string { return c.cells[i] })
	}
}

// clip shortens text to n runes, its middle out: both the name and the last
// swept value stay.
func clip(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	tail := n / 2
	return string(r[:n-tail-1]) + "…" + string(r[len(r)-tail:])
}

func percent(share float64) string {
	if math.IsNaN(share) {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// thousands writes a whole number with commas.
func thousands(x float64) string {
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
