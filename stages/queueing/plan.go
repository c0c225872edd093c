package queueing

import "switchyard/stages/experiment"

// Config is a configuration.
type Config struct {
	Job                        string
	Index                      int32
	WorkloadPoint, RouterPoint string
}

// Name names it.
func (c *Config) Name() string { return c.WorkloadPoint + " / " + c.RouterPoint }

// Run is a planned cell.
type Run struct {
	Index       int32
	Key         string
	Config      *Config
	Replication int
}

// Plan is all cells.
type Plan struct {
	Experiment      *experiment.Experiment
	Balls, Dispatch []Run
}
