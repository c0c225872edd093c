package capacity

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
)

// Print writes table `capacity` for a person: for each workload and cluster
// the routers from the greatest capacity down, and then the best of each.
func Print(w io.Writer, dir string) error {
	rows, err := Capacities.Read(dir)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	blocks := blocksOf(rows)
	for _, block := range blocks {
		printBlock(t, block)
	}
	fmt.Fprintln(t, "workload\tcluster\tbest router\tcapacity\tcarried\tnot carried")
	for _, block := range blocks {
		best := block[0]
		name := best.RouterPoint
		if n := tied(block); n > 1 {
			name += fmt.Sprintf(" and %d more", n-1)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", best.WorkloadPoint, best.ClusterPoint, name, number(best.Capacity), number(best.Lo), number(best.Hi))
	}
	fmt.Fprintf(t, "\n%s\n", rule(rows))
	return t.Flush()
}

// rule says what the figures mean.
func rule(rows []Found) string {
	text := "capacity: the largest load found that is not saturated over all replications"
	if len(rows) == 0 {
		return text
	}
	if rows[0].Asked > 0 {
		text += fmt.Sprintf(" and in which %.4g %% of the requests meet the objective", 100*rows[0].Asked)
	}
	return text + `. = brackets that overlap the
best's of the rank, so that the search does not tell them apart; capacity - no load was too much, as in
sessions whose turns wait for answers (pace: closed), or, without a rank, none was carried.`
}

// blocksOf groups rows by workload and cluster, in order, each from the
// greatest capacity down.
func blocksOf(rows []Found) (blocks [][]Found) {
	index := map[[2]string]int{}
	for _, r := range rows {
		key := [2]string{r.WorkloadPoint, r.ClusterPoint}
		i, ok := index[key]
		if !ok {
			i = len(blocks)
			index[key], blocks = i, append(blocks, nil)
		}
		blocks[i] = append(blocks[i], r)
	}
	for _, b := range blocks {
		slices.SortStableFunc(b, func(x, y Found) int { return cmp.Compare(y.level(), x.level()) })
	}
	return blocks
}

// level is what a block is ordered by: no limit comes before every capacity,
// and what carries nothing behind.
func (r *Found) level() float64 {
	switch {
	case r.Lo == nil:
		return -1
	case r.Capacity == nil:
		return math.Inf(1)
	}
	return *r.Capacity
}

// meets says whether the bracket of a row behind this one overlaps its bracket.
func (r *Found) meets(behind *Found) bool {
	switch {
	case r.Lo == nil || behind.Lo == nil:
		return false
	case behind.Hi == nil:
		return r.Hi == nil
	}
	return *behind.Hi > *r.Lo
}

// ranks returns the block's ranks. Those whose brackets overlap the best's of a
// rank share it; what carries nothing has none.
func ranks(block []Found) []string {
	list := make([]string, len(block))
	for best := 0; best < len(block); {
		n := tied(block[best:])
		rank := strconv.Itoa(best + 1)
		switch {
		case block[best].Lo == nil:
			rank = "-"
		case n > 1:
			rank += "="
		}
		for i := range n {
			list[best+i] = rank
		}
		best += n
	}
	return list
}

// tied counts the first and those behind it whose brackets overlap its bracket.
func tied(block []Found) int {
	n := 1
	for n < len(block) && block[0].meets(&block[n]) {
		n++
	}
	return n
}

func printBlock(w io.Writer, block []Found) {
	best := block[0]
	fmt.Fprintf(w, "%s on %s, %s; load: %s\n\n", best.WorkloadPoint, best.ClusterPoint, replicas(best.Replicas), best.Axis)
	fmt.Fprintln(w, "\trouter\tcapacity\tnot carried\tof the best\tmean E2E, s\tprobes")
	of := ranks(block)
	for i, r := range block {
		share, latency := "-", "-"
		if r.Capacity != nil && best.Capacity != nil {
			share = fmt.Sprintf("%.3f", *r.Capacity / *best.Capacity)
		}
		if r.MeanE2EUs != nil {
			latency = fmt.Sprintf("%.3g", *r.MeanE2EUs/1e6)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", of[i], r.RouterPoint, number(r.Capacity), number(r.Hi), share, latency, r.Iterations)
	}
	fmt.Fprintln(w)
}

func replicas(n int32) string {
	if n == 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", n)
}

func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}
