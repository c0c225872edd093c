package selection

import (
	"fmt"
	"strings"

	"switchyard/sim/param"
)

// Optimisers lists the optimisers by name.
func Optimisers() []Entry {
	return []Entry{
		llmselectorEntry, twoStageEntry, greedyEntry, randomEntry,
		exhaustiveEntry, singleEntry, halvingEntry, banditEntry,
	}
}

// Find returns the optimiser of that name, or names the nearest.
func Find(name string) (Entry, error) {
	var known []string
	for _, e := range Optimisers() {
		if e.Name == name {
			return e, nil
		}
		known = append(known, e.Name)
	}
	if near := param.Nearest(name, known); near != "" {
		return Entry{}, fmt.Errorf("no optimiser %q: did you mean %q?", name, near)
	}
	return Entry{}, fmt.Errorf("no optimiser %q: take one of %s", name, strings.Join(known, ", "))
}
