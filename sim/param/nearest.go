package param

import "strings"

// Nearest returns the known name that a wrong one was probably meant to be: at
// most a third of its letters away, counting insertions, deletions,
// substitutions and swaps of neighbours, or the only one that it begins. It
// returns "" where nothing is near. Case and the choice between - and _ do
// not count; of equals, the first known one is taken.
func Nearest(name string, known []string) string {
	fold := func(s string) []rune {
		return []rune(strings.ReplaceAll(strings.ToLower(s), "_", "-"))
	}
	from := fold(name)
	best, least := "", 1+max(1, len(from)/3)
	begun, beginnings := "", 0
	for _, k := range known {
		to := fold(k)
		if d := distance(from, to); d < least {
			best, least = k, d
		}
		if len(from) >= 2 && strings.HasPrefix(string(to), string(from)) {
			begun = k
			beginnings++
		}
	}
	if best == "" && beginnings == 1 {
		return begun
	}
	return best
}

// distance is the optimal string alignment distance (Damerau, 1964, with each
// piece edited once).
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			substitute := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				substitute++
			}
			d := min(substitute, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
