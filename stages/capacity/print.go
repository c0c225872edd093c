package capacity

import (
	"cmp"
	"fmt"
	"io"
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
		text += fmt.Sprintf(" and in which %v of the requests meet the objective", rows[0].Asked)
	}
	return text + `. = shares its bracket
with the best, so that the search does not tell them apart; - no load was too much, as in sessions whose
turns wait for answers (pace: closed), or none was carried.`
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
		slices.SortStableFunc(b, func(x, y Found) int { return cmp.Compare(value(y.Capacity), value(x.Capacity)) })
	}
	return blocks
}

// tied counts those whose bracket overlaps the best's.
func tied(block []Found) (n int) {
	for _, r := range block {
		if r.Hi == nil || block[0].Lo == nil || *r.Hi <= *block[0].Lo {
			break
		}
		n++
	}
	return max(n, 1)
}

func printBlock(w io.Writer, block []Found) {
	best := block[0]
	fmt.Fprintf(w, "%s on %s, %d replicas; load: %s\n\n", best.WorkloadPoint, best.ClusterPoint, best.Replicas, best.Axis)
	fmt.Fprintln(w, "\trouter\tcapacity\tnot carried\tof the best\tmean E2E, s\tprobes")
	same := tied(block)
	for i, r := range block {
		rank := strconv.Itoa(i + 1)
		if i < same && same > 1 {
			rank = "1="
		}
		share, latency := "-", "-"
		if r.Capacity != nil && best.Capacity != nil {
			share = fmt.Sprintf("%.3f", *r.Capacity / *best.Capacity)
		}
		if r.MeanE2EUs != nil {
			latency = fmt.Sprintf("%.3g", *r.MeanE2EUs/1e6)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", rank, r.RouterPoint, number(r.Capacity), number(r.Hi), share, latency, r.Iterations)
	}
	fmt.Fprintln(w)
}

func value(x *float64) float64 {
	if x == nil {
		return -1
	}
	return *x
}

func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}
