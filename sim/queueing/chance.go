package queueing

// Chance says what of a study differs from replication to replication: when
// requests arrive, how long they are, and where they go. What is given, or
// follows from what is given, does not. Where it is not sure of dispatch it says
// true.
func (c *Config) Chance() (arrivals, sizes, dispatch bool) {
	arrivals, sizes = true, true
	switch c.Arrivals.(type) {
	case *Times, *Deterministic:
		arrivals = false
	}
	switch s := c.Sizes.(type) {
	case *EmpiricalSizes:
		sizes = !s.InOrder
	case *DeterministicSizes:
		sizes = false
	}
	return arrivals, sizes, c.System.Dispatchers > 1 || c.System.Servers > 1 && (c.policyDraws() || c.informationDraws())
}

// policyDraws says whether the policy draws from its stream.
func (c *Config) policyDraws() bool {
	switch p := c.Policy.(type) {
	case *RoundRobin, *WeightedRoundRobin:
		return false
	case *JSQ:
		return p.Rule == "random"
	case *LWL:
		return p.Rule == "random"
	case *CentralQueue:
		return p.Rule == "random"
	case *ExpectedWork:
		return p.Rule == "random" || p.Noise > 0
	}
	return true // random, jsq-d, jiq, and sita-e among sizes that are a cut-off
}

// informationDraws says whether the age of what is seen is drawn.
func (c *Config) informationDraws() bool {
	drawn := c.Information.Model == "individual" || c.Information.Model == "continuous-exponential"
	return drawn && !c.Information.Live() && c.Policy.sees() != seesNothing
}
