package simulate

import (
	"fmt"

	"switchyard/stages/experiment"
	"switchyard/stages/generate"
)

// decoder decodes points; what several of them have in common is decoded once.
type decoder struct {
	traces    generate.Decoder
	errs      []error
	clusters  map[variant]*Cluster
	routers   map[variant]*Router
	workloads map[variant]*generate.Variant
	resolved  map[string]*generate.Variant // by name and key
	order     []*generate.Variant
	suited    map[string]bool // by workload, replicas and router: see suits
}

// variant is what decoding depends on.
type variant struct {
	name     string
	section  experiment.Section
	replicas int
}

func newDecoder(e *experiment.Experiment) *decoder {
	return &decoder{
		traces:    generate.Decoder{Seed: e.Seed},
		clusters:  map[variant]*Cluster{},
		routers:   map[variant]*Router{},
		workloads: map[variant]*generate.Variant{},
		resolved:  map[string]*generate.Variant{},
		suited:    map[string]bool{},
	}
}

// config decodes a point. It is incomplete where that fails.
func (d *decoder) config(p *experiment.Point) *Config {
	workload, cluster, router := p.Part("workload"), p.Part("cluster"), p.Part("router")
	c := &Config{
		Index: int32(p.Index), Factors: map[string]string{}, point: p,
		WorkloadPoint: p.LabelOf("workload"), ClusterPoint: p.LabelOf("cluster"), RouterPoint: p.LabelOf("router"),
	}
	for _, f := range p.Factors {
		c.Factors[f.Name] = f.Value
	}
	replicas := 1 // enough to find what is wrong elsewhere
	c.Cluster = once(d, d.clusters, variant{cluster.Name, cluster.Section, 0}, func() (*Cluster, error) {
		return decodeCluster(cluster)
	})
	if c.Cluster != nil {
		replicas = c.Cluster.Params.Replicas
	}
	c.Router = once(d, d.routers, variant{router.Name, router.Section, replicas}, func() (*Router, error) {
		return decodeRouter(router, replicas)
	})
	c.Workload = once(d, d.workloads, variant{workload.Name, workload.Section, replicas}, func() (*generate.Variant, error) {
		return d.workload(workload, c.WorkloadPoint, replicas)
	})
	d.suits(c)
	return c
}

// once decodes a variant the first time it is asked for; nil after a failure.
func once[T any](d *decoder, known map[variant]*T, v variant, decode func() (*T, error)) *T {
	if t, ok := known[v]; ok {
		return t
	}
	t, err := decode()
	if err != nil {
		d.errs = append(d.errs, err)
		t = nil
	}
	known[v] = t
	return t
}

// workload decodes a workload. Those that come out the same, such as one for
// two clusters of equal size, are one, so that their cells share it.
func (d *decoder) workload(in experiment.Instance, point string, replicas int) (*generate.Variant, error) {
	v, err := d.traces.Decode(in, replicas)
	if err != nil {
		return nil, err
	}
	key := v.Name + "\n" + v.Key()
	if same, ok := d.resolved[key]; ok {
		return same, nil
	}
	v.Point = point
	d.resolved[key] = v
	d.order = append(d.order, v)
	return v, nil
}

// distinct refuses configurations that are the same run: their keys are equal,
// so that their rows could not be told apart.
func (d *decoder) distinct(configs []*Config) {
	first := map[string]*Config{}
	for _, c := range configs {
		key := cellKey(0, 0, c)
		if other, taken := first[key]; taken {
			d.errs = append(d.errs, c.repeats(other))
		} else {
			first[key] = c
		}
	}
}

// repeats is the error of a configuration that is the same run as another, at
// the part of it that has another name.
func (c *Config) repeats(other *Config) error {
	at, key, name := c.point.Part("router"), "policy", other.RouterPoint
	switch {
	case c.RouterPoint != other.RouterPoint:
	case c.ClusterPoint != other.ClusterPoint:
		at, key, name = c.point.Part("cluster"), "replicas", other.ClusterPoint
	case c.WorkloadPoint != other.WorkloadPoint:
		at, key, name = c.point.Part("workload"), "generator", other.WorkloadPoint
		if _, traced := at.Section.String("trace"); traced {
			key = "trace"
		}
	}
	return at.Section.Errorf(key, fmt.Sprintf("parameters that differ from those of %q: the two are the same runs under two names, leave one out", name), nil)
}
