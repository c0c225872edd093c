package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// setting is a parameter of an engine that is not at its default and that its
// reader may take for something that it is not.
type setting struct {
	key string // in the item of clusters, dotted
	but string // what it comes to; "" where it does what it says
}

// knobs are the parameters on which the effect of others depends.
type knobs struct {
	knowledge     engine.Knowledge
	order, evict  string
	ratio, lowest float64
}

func knobsOf(p engine.Params) (knobs, bool) {
	of := func(order string, r *engine.Radix) knobs {
		return knobs{r.Knowledge, order, r.Evict, r.Ratio, r.RatioMin}
	}
	switch p := p.(type) {
	case *engine.Lecture:
		return knobs{knowledge: p.Knowledge, order: p.Order, evict: p.Evict}, true
	case *engine.SGLang:
		return of(p.Order, &p.Radix), true
	case *engine.Preble:
		return of(p.Order, &p.Radix), true
	}
	return knobs{}, false
}

// settings returns those of a cluster's engine.
func (c *Cluster) settings() (all []setting) {
	k, ok := knobsOf(c.Engine)
	for _, canonical := range param.Canonical(c.Engine) {
		name, _, _ := strings.Cut(canonical, "=")
		s := setting{key: "engine." + name}
		switch {
		case name == "num_blocks":
			s.but = c.beyondMemory()
		case ok:
			s.but = k.comesTo(name)
		}
		all = append(all, s)
	}
	return all
}

// comesTo says what a parameter comes to beside the others.
func (k *knobs) comesTo(name string) string {
	known := "plays no part: output_known is " + k.knowledge.Output
	switch name {
	case "output_max_tokens":
		if k.knowledge.Output != "maximum" {
			return known
		}
	case "output_max_factor":
		switch {
		case k.knowledge.Output != "maximum":
			return known
		case k.knowledge.OutputMax > 0:
			return "plays no part: output_max_tokens is the maximum"
		}
	case "output_error":
		if k.knowledge.Output != "noisy" {
			return known
		}
	case "groups":
		if k.order != "priority-groups" && k.order != "fcfs-mpq" {
			return "plays no part: order " + k.order + " has no groups"
		}
	case "host_tokens":
		if k.evict == "none" {
			return "plays no part: evict is none, so that nothing is ever evicted to host memory"
		}
	case "reserve_ratio", "reserve_ratio_min":
		if k.ratio < k.lowest {
			return fmt.Sprintf("sets reserve_ratio, %v, below reserve_ratio_min, %v: the share starts there and does not fall, only a retraction raises it", k.ratio, k.lowest)
		}
	}
	return ""
}

// binary is what a GPU's memory may be over its decimal figure: some vendors
// print GB and mean 2³⁰ bytes.
const binary = (1 << 30) / 1e9

// beyondMemory says that blocks are more than all memory beside the weights.
func (c *Cluster) beyondMemory() string {
	h, model := &c.Hardware, c.stored()
	if h.GPU.Name == "" || model.Name == "" {
		return ""
	}
	if most := hardware.KVCapacity(h.GPU, model, c.Params.TensorParallel, binary); c.Config.KVTokens > most {
		return fmt.Sprintf("takes %d tokens of KV cache, and all memory of the replica holds %d beside the weights of %s", c.Config.KVTokens, max(0, most), model.Name)
	}
	return ""
}

// idleSettings says, at its place in the file, which setting of the clusters' engines
// comes to something else than it says in all clusters that have it. One that
// a grid crosses with what it needs has its effect in some.
func idleSettings(configs []*Config) (texts []string) {
	effective, seen := map[string]bool{}, map[*Cluster]bool{}
	var paths []string
	text := map[string]string{}
	for _, config := range configs {
		c := config.Cluster
		if seen[c] {
			continue
		}
		seen[c] = true
		for _, s := range c.settings() {
			var at *experiment.Error
			if !errors.As(c.item.Errorf(s.key, "", nil), &at) {
				continue
			}
			if s.but == "" {
				effective[at.Path] = true
			} else if _, known := text[at.Path]; !known {
				paths = append(paths, at.Path)
				text[at.Path] = place(at) + " " + s.but
			}
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return effective[path] })
	for _, path := range paths {
		texts = append(texts, text[path])
	}
	return texts
}

// place says where a value stands and what it is.
func place(at *experiment.Error) string {
	where := at.File
	if at.Line > 0 {
		where += fmt.Sprintf(":%d:%d", at.Line, at.Column)
	}
	return strings.TrimPrefix(fmt.Sprintf("%s: %s: value %q", where, at.Path, at.Value), ": ")
}
