package queueing

import (
	"fmt"
	"math"

	"switchyard/sim/dist"
)

// doubts are what is known of a study's means before it runs.
func (c *Config) doubts() []string {
	var out []string
	s := c.study
	if math.IsInf(dist.Moment(s.Sizes.Law(), 2), 1) {
		out = append(out, "sizes without variance: means belong to the length of the run")
	}
	if doubt := c.chance(); doubt != "" {
		out = append(out, doubt)
	}
	if lasts := float64(s.Traffic.Requests) / s.Rate() / s.Sizes.Law().Mean(); s.Information.Age > lasts {
		out = append(out, fmt.Sprintf("information of age %v is older than the run, which lasts %.3g mean sizes: all is sent by the state at the start", s.Information.Age, lasts))
	}
	return out
}
