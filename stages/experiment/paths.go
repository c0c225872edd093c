package experiment

// Paths returns the paths of all values, as overrides name them, in the order
// of Resolved: seed, workloads.tool.arrivals.rate_rps. As there, defaults of
// sections appear as far as the sections have been decoded.
func (e *Experiment) Paths() (paths []string) {
	var walk func(n *node, path string)
	walk = func(n *node, path string) {
		switch {
		case n.maps():
			for _, item := range n.items {
				if name := item.get("name"); name != nil {
					walk(item, join(path, name.raw))
				}
			}
		case n.kind == mapping && !n.isForm():
			for _, e := range n.entries {
				if e.key != "name" || path == "" {
					walk(e.value, join(path, e.key))
				}
			}
		default:
			paths = append(paths, path)
		}
	}
	walk(e.resolved(), "")
	return paths
}
