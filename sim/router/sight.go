package router

import "switchyard/sim/engine"

// Sight says what routers see of the cluster, whatever their policy: section
// `view` of a router. Its defaults are what the policy has in its system.
type Sight struct {
	Loads        string  `yaml:"loads" default:"policy" enum:"policy|local|live|polled|corrected" doc:"where loads come from: as in the policy's system; the router's own dispatches in flight; the replicas as they are; the replicas at the last poll; or those with the router's own dispatches since added"`
	PollMs       float64 `yaml:"poll_ms" default:"0" min:"0" max:"3600000" unit:"ms" doc:"time between polls; 0 = the policy's own, or 1000 where it has none"`
	EventDelayMs float64 `yaml:"event_delay_ms" default:"0" min:"0" max:"3600000" unit:"ms" doc:"time from a change of a cache to the event that tells of it"`
	EventLoss    float64 `yaml:"event_loss" default:"0" min:"0" max:"1" unit:"share" doc:"share of events that never arrive"`
	NoticeMs     float64 `yaml:"notice_ms" default:"10" min:"-1" max:"3600000" unit:"ms" doc:"time from an eviction to the notice of it, for policies that ask for notices; -1 = never"`
	Instances    int     `yaml:"instances" default:"1" min:"1" max:"1024" unit:"routers" doc:"routers that take requests in turn and do not see each other's"`
	ServiceUs    float64 `yaml:"service_us" default:"0" min:"0" max:"10000000" unit:"us" doc:"time that a router takes for a decision, one request after another"`

	engine.Knowledge // of the lengths of outputs
}
