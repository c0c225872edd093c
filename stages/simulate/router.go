package simulate

import (
	"strings"

	"switchyard/sim/param"
	"switchyard/sim/router"
	"switchyard/stages/experiment"
)

// RouterParams is the one parameter that every item of `routers` has; the
// policy's own stand beside it.
type RouterParams struct {
	Policy string `yaml:"policy" required:"true" doc:"routing policy; see list routers"`
}

// Router is a decoded item of `routers`.
type Router struct {
	Name   string
	Policy router.Policy
	Params router.Params
	Sight  router.Sight
}

// decodeRouter decodes an item of `routers` for a cluster of so many replicas.
func decodeRouter(in experiment.Instance, replicas int) (*Router, error) {
	name, ok := in.Section.String("policy")
	if !ok {
		return nil, in.Section.Errorf("policy", "the name of a routing policy; see list routers", nil)
	}
	policy, err := find(in.Section, "policy", name, router.Policies(), func(p router.Policy) string { return p.Name })
	if err != nil {
		return nil, err
	}
	r := &Router{Name: in.Name, Policy: policy, Params: policy.New()}
	var own RouterParams
	var section struct {
		View experiment.Section `yaml:"view" doc:"what the routers see of the cluster, whatever their policy"`
	}
	wrong := in.Section.Decode(replicas, &own, &section, r.Params)
	if wrong != nil { // what can be told in spite of it
		section.View, _ = in.Section.Section("view")
	}
	if err := experiment.Join(wrong, section.View.Decode(replicas, &r.Sight)); err != nil {
		return nil, err
	}
	return r, nil
}

// key says all that a router contributes to what happens in a cell.
func (r *Router) key() string {
	parts := append([]string{"policy=" + r.Policy.Name}, param.Canonical(r.Params)...)
	return strings.Join(append(parts, param.Nest("view", param.Canonical(&r.Sight))...), "\n")
}
