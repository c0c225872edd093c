package router

import "math"

var jsewPolicy = Policy{
	Name:      "dynamo-jsew",
	Summary:   "Dynamo's plugin jsew: join the shortest expected work, dynamo-kv with decode blocks weighed by the work that is expected of them",
	Formula:   "argmin max(0, (active prefill tokens + L)/B - overlap) + (footprint + scale*(predicted/own blocks)^a)*charged; charged = u*(u/mean u)^(b-1), u = decode blocks*requests^c",
	Needs:     "prefixes cached on every replica, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "books of its own requests are exact; several routers do not see each other's",
	Terms:     []string{"prefill blocks", "decode blocks", "active requests"},
	TieBreak:  "uniform among the least, by reservoir",
	Source:    "Dynamo, lib/router-plugins/builtin/src/jsew.rs at 6345a80f; its defaults were tuned on one agentic trace",
	New:       func() Params { return new(JSEW) },
}

// JSEW are the parameters of Dynamo's plugin jsew.
type JSEW struct {
	KVBelief
	Predictor     string  `yaml:"predictor" default:"uncached" enum:"uncached|output" doc:"what is taken for the decode work of a request: a moving average of requests' uncached prompt tokens, or what is known of its own output (the average where nothing is)"`
	WorkScale     float64 `yaml:"work_scale" default:"17.601" min:"0" max:"20" unit:"ratio" doc:"weight of expected work"`
	Footprint     float64 `yaml:"footprint" default:"1.526" min:"0" max:"2" unit:"ratio" doc:"weight of decode blocks as such"`
	Alpha         float64 `yaml:"alpha" default:"0.01737" min:"0.000001" max:"1" unit:"share" doc:"weight of the last request in the moving average"`
	WorkExponent  float64 `yaml:"work_exponent" default:"1" min:"0.1" max:"4" unit:"exponent" doc:"of expected work over the request's own size"`
	LoadExponent  float64 `yaml:"load_exponent" default:"1.2" min:"0.1" max:"4" unit:"exponent" doc:"of decode blocks, relative to the mean over replicas"`
	ShareExponent float64 `yaml:"share_exponent" default:"0.13" min:"0" max:"2" unit:"exponent" doc:"of requests in flight, by which blocks that they share are counted again"`
}

// Build implements Params.
func (p *JSEW) Build(e Env) Router {
	d := newDynamo(e, &p.KVBelief)
	d.credit, d.scale = 1, 1
	return &jsew{dynamo: d, p: *p, charge: make([]float64, e.Replicas), average: -1}
}

type jsew struct {
	*dynamo
	p       JSEW
	charge  []float64 // by replica: decode blocks, those that requests share counted again
	average float64   // of uncached prompt tokens; below 0 before the first request
}

func (j *jsew) Route(id int32, v *View) int {
	j.belief.match(id, v)
	j.price(id, v)
	weight := j.p.Footprint + float64(j.p.WorkScale*math.Pow(j.ratio(id, v), j.p.WorkExponent))
	mean := 0.0
	for _, i := range v.Up {
		j.charge[i] = float64(j.blocks[i]) * math.Pow(float64(max(1, v.Requests[i])), j.p.ShareExponent)
		mean += j.charge[i] / float64(len(v.Up))
	}
	for _, i := range v.Up {
		charged := j.charge[i]
		if charged > 0 {
			charged *= math.Pow(charged/mean, j.p.LoadExponent-1)
		}
		j.cost[i] += float64(weight*charged) - float64(j.blocks[i])
		if d := v.Decision; d != nil {
			d.Score[i], d.Terms[1][i] = j.cost[i], weight*charged
		}
	}
	chosen := reservoir(v.Up, j.cost, j.stream)
	j.send(id, chosen, v)
	return chosen
}

// ratio returns the blocks that a request is expected to decode over its own.
func (j *jsew) ratio(id int32, v *View) float64 {
	most := int32(0)
	for _, i := range v.Up {
		most = max(most, j.belief.cached[i])
	}
	uncached := float64(v.Work.Prompt[id] - most*j.belief.block)
	if j.average < 0 {
		j.average = uncached
	} else {
		j.average = float64(j.p.Alpha*uncached) + float64((1-j.p.Alpha)*j.average)
	}
	predicted := j.average
	if j.p.Predictor == "output" {
		if known := v.Outputs.Of(id); known > 0 {
			predicted = float64(known)
		}
	}
	blocks := (v.Work.Prompt[id] + j.belief.block - 1) / j.belief.block
	return predicted / float64(j.belief.block) / float64(blocks)
}
