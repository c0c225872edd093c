package simulate

import (
	"strings"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/router"
	"switchyard/stages/experiment"
)

// Server is a replica of one of several models that share GPUs of one kind.
type Server struct {
	cluster Cluster
}

// Step returns how long its steps take.
func (r *Server) Step() engine.StepModel { return r.cluster.Config.Step }

// KVTokens returns the size of its KV cache.
func (r *Server) KVTokens() int64 { return r.cluster.Config.KVTokens }

// GPUs returns on how many GPUs it runs.
func (r *Server) GPUs() int { return r.cluster.Params.TensorParallel }

// Key says all that decides how it serves.
func (r *Server) Key() string { return r.cluster.key() }

// ServerParts returns the parameters of a replica that has no section step,
// as pointers to structs.
func ServerParts() []any {
	parts := ClusterParts()
	return append([]any{new(ReplicaParams), parts[1]}, parts[3:]...)
}

// GPUForm returns the struct that takes the key gpu of a section: a name, or
// figures.
func GPUForm(in experiment.Section) any { return new(Hardware).forms(in)[1] }

// Scheduler is a decoded section `engine`.
type Scheduler struct {
	name   string
	params engine.Params
}

// Params returns the scheduler's parameters.
func (s *Scheduler) Params() engine.Params { return s.params }

// DecodeScheduler decodes a section `engine`.
func DecodeScheduler(in experiment.Section) (*Scheduler, error) {
	c := Cluster{Params: ClusterParams{Replicas: 1}}
	err := c.decodeEngine(in)
	return &Scheduler{c.Scheduler, c.Engine}, err
}

// DecodeServer decodes a model's section; gpu is the section that names the
// GPU of all models.
func DecodeServer(in, gpu experiment.Section, s *Scheduler) (*Server, error) {
	r := &Server{Cluster{Params: ClusterParams{Replicas: 1}, Scheduler: s.name, Engine: s.params, item: in}}
	c := &r.cluster
	h := &c.Hardware
	var section struct {
		Step experiment.Section `yaml:"step" doc:"step model of every replica"`
	}
	forms := h.forms(in)
	forms = append(forms[:1], forms[2:]...) // the GPU stands elsewhere
	err := in.Decode(1, append(forms, &c.Params.ReplicaParams, &section)...)
	err = experiment.Join(err, h.decodeGPU(gpu), h.decodeModel(in), h.decodeStep(in))
	if err == nil {
		err = h.require(gpu, in, c.Params.KVTokens > 0 || c.blocks() > 0)
	}
	if err == nil {
		err = c.build(in, gpu, c.stored())
	}
	return r, err
}

// routerName is the short form of a router inside a section.
type routerName struct {
	Router string `yaml:"router" default:"least-requests" doc:"routing policy in front of each model's replicas: a name of list routers, or a section with policy, its parameters and view"`
}

type routerSection struct {
	Router experiment.Section `yaml:"router" doc:"routing policy with its parameters"`
}

// RouterForm returns the struct that takes the key router of a section.
func RouterForm(in experiment.Section) any {
	if _, own := in.Section("router"); own {
		return new(routerSection)
	}
	return new(routerName)
}

// DecodeRouter decodes what a section has under router: the name of a policy,
// a section, or nothing.
func DecodeRouter(in experiment.Section) (*Router, error) {
	if own, ok := in.Section("router"); ok {
		return decodeRouter(experiment.Instance{Section: own}, 1)
	}
	var own routerName
	param.Defaults(&own)
	if name, ok := in.String("router"); ok {
		own.Router = name
	}
	policy, err := find(in, "router", own.Router, router.Policies(), func(p router.Policy) string { return p.Name })
	if err != nil {
		return nil, err
	}
	r := &Router{Policy: policy, Params: policy.New()}
	param.Defaults(r.Params)
	param.Defaults(&r.Sight)
	return r, missing(in, r)
}

// missing refuses a policy that cannot be without parameters.
func missing(in experiment.Section, r *Router) error {
	var lacks []string
	for _, f := range param.Fields(r.Params) {
		if f.Required {
			lacks = append(lacks, f.Name)
		}
	}
	if lacks == nil {
		return nil
	}
	return in.Errorf("router", "a section {policy: "+r.Policy.Name+", ...} with "+strings.Join(lacks, ", "), nil)
}

// Key says all that a router contributes to what happens.
func (r *Router) Key() string { return r.key() }
