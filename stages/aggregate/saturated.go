package aggregate

import "switchyard/stages/simulate"

// Saturated reports whether a configuration is saturated, by the cells of its
// replications; see saturation.go for the rule. It is an error where they are
// of several configurations.
func Saturated(cells []simulate.Cell) (bool, error) {
	configs, err := gatherServed(cells)
	if err != nil {
		return false, err
	}
	for _, c := range configs {
		c.judge()
		if c.saturated {
			return true, nil
		}
	}
	return false, nil
}
