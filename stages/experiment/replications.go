package experiment

import (
	"strconv"
	"strings"
)

const (
	maxReplication  = 1_000_000
	maxReplications = 100_000
)

const replicationsExpected = "a number n for 1..n, a range such as 1..30, or a list of numbers from 1 to 1000000 without repetition, at most 100000 of them"

// replications reads what stands under that key, nil for the default.
func replications(n *node) ([]int, error) {
	if n == nil {
		return span(1, 10), nil
	}
	var out []int
	ok := true
	switch x := n.value.(type) {
	case string:
		out, ok = parseReplications(x)
	case int64:
		ok = x >= 1 && x <= maxReplications
		if ok {
			out = span(1, int(x))
		}
	default:
		ok = n.kind == list
		for _, item := range n.items {
			one, fits := item.value.(int64)
			if fits {
				out = append(out, int(one))
				continue
			}
			text, _ := item.value.(string)
			some, fits := parseReplications(text)
			if !fits || len(out) > maxReplications {
				return nil, item.wrong(replicationsExpected)
			}
			out = append(out, some...)
		}
	}
	if !ok || !distinct(out) {
		return nil, n.wrong(replicationsExpected)
	}
	return out, nil
}

// parseReplications reads 1..30, 7, and several of them with commas.
func parseReplications(text string) ([]int, bool) {
	var out []int
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "..")
		from, err := strconv.Atoi(first)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to < from || to > maxReplication || to-from >= maxReplications-len(out) {
			return nil, false
		}
		out = append(out, span(from, to)...)
	}
	return out, true
}

func span(from, to int) []int {
	out := make([]int, 0, to-from+1)
	for r := from; r <= to; r++ {
		out = append(out, r)
	}
	return out
}

func distinct(numbers []int) bool {
	seen := map[int]bool{}
	for _, n := range numbers {
		if seen[n] || n < 1 || n > maxReplication {
			return false
		}
		seen[n] = true
	}
	return len(numbers) > 0
}

// printReplications is the inverse: ranges where it can.
func printReplications(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += ".." + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	if len(parts) == 1 && strings.Contains(parts[0], "..") {
		return parts[0]
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
