package selection

import (
	"fmt"

	"switchyard/sim/param"
)

// Optimisers lists the optimisers by name.
func Optimisers() []Entry {
	return []Entry{}
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
	return Entry{}, fmt.Errorf("no optimiser %q; the nearest is %q", name, param.Nearest(name, known))
}
