package choose

import (
	"context"

	"switchyard/stages/endpoint"
	"switchyard/stages/experiment"
)

var liveKind = WorldKind{
	Name:    "live",
	Summary: "live models behind servers that speak the OpenAI protocol; every answer is kept and asked once",
	Source:  "any server of that protocol; prompts, metrics and the diagnoser after LLMSelector (Chen et al., 2025, arXiv:2502.14815)",
	New:     func() any { return new(endpoint.Params) },
	open:    openLive,
}

// live is a world whose answers cost money: nothing is asked there that an
// optimiser, or the comparison with the best single model, does not need.
type live struct{ *endpoint.Live }

func openLive(s experiment.Section, params any) (source, error) {
	l, err := endpoint.Open(s, params.(*endpoint.Params))
	if err != nil {
		return nil, err
	}
	return live{l}, nil
}

func (l live) key() string { return l.Key() }

func (l live) drawn() bool { return l.Drawn() }

func (l live) pools() int { return 1 }

func (l live) check(sys *system, s experiment.Section) error {
	if err := l.Check(sys.graph); err != nil {
		return misfit(s, "world", err)
	}
	return nil
}

func (l live) able(*system) able {
	return able{scores: true, culprits: l.Diagnoses(), paid: true, free: !l.Priced()}
}

func (l live) names(sys *system) (modules []string, candidates [][]string) {
	candidates, _ = l.Labels(sys.graph)
	return sys.graph.DecisionNames(), candidates
}

func (l live) pool(sys *system, at sample) (*pool, error) {
	train, test, err := l.Worlds(context.Background(), sys.graph, at.seed, at.replication)
	if err != nil {
		return nil, err
	}
	p := &pool{modules: sys.graph.DecisionNames(), train: train, test: test, priced: l.Priced(), paid: true}
	p.candidates, p.models = l.Labels(sys.graph)
	p.after = func() []string { return append(train.Doubts(), test.Doubts()...) }
	if l.Diagnoses() {
		d, err := l.NewDiagnoser(train)
		if err != nil {
			return nil, err
		}
		p.diagnoser = d
		p.after = func() []string { return append(append(train.Doubts(), test.Doubts()...), d.Doubts()...) }
	}
	return p, nil
}

// Live returns the plan's first live world that has a diagnoser, or nil.
func (p *Plan) Live() *endpoint.Live {
	for _, s := range p.settings {
		if l, ok := s.world.source.(live); ok && l.Diagnoses() {
			return l.Live
		}
	}
	return nil
}
