// Package queueing holds the classic models of load balancing, whose answers
// are known: balls into bins, dispatch of a stream of requests to servers, and
// dispatch on stale information. What is found with the cluster's model of
// language model serving can be held against them.
//
// # Dispatch
//
// Requests 0, 1, 2, ... arrive at times t and bring sizes S. A dispatcher sends
// each at once to one of N servers, by its policy; server i works at speed v_i
// and serves first come first served, or all its requests at once in equal
// shares (processor sharing). First come first served, with F the time at which
// a server has done all that it was sent, the request ends at
//
//	D = max(t, F) + S/v,   F <- D        (Lindley's recursion)
//
// and its response time is D - t. The load is rho = (arrivals a unit of time)
// E[S] / sum v_i. The system starts empty; results leave a share of the first
// arrivals out (warm-up) and count each later one to its end.
//
// Time is counted in whole ticks of 2^-30 mean sizes, so that equal times are
// equal: sizes and gaps are rounded to ticks, a size to at least one. At one
// instant departures come first, then refreshes of information, then arrivals
// by sequence, each routed on the state that the one before left.
//
// What a policy sees is the Information: the state at this moment, or as it was
// at the last refresh, or only its own requests. What a policy must know, how
// fresh, and where it breaks is part of its entry in Policies.
//
// # Random streams
//
// The streams of a study are named by what they are for: "dispatch/arrivals",
// "dispatch/sizes", "dispatch/predictions", "dispatch/dispatchers",
// "dispatch/updates", "dispatch/ages". None depends on the policy, so that all
// policies see the same requests at the same times, and two loads share their
// requests up to the scale of time. A policy draws from a stream of its own,
// "dispatch/policy/" and its name.
//
// # Theory
//
// Theory gives the exact or mean-field value for the studies that have one.
//
// # Example
//
//	c := queueing.NewConfig()            // 16 servers, load 0.9, Poisson, exponential
//	c.Policy = &queueing.JSQOf{Choices: 2, Ties: queueing.Ties{Rule: "random"}}
//	r, err := new(queueing.Sim).Run(c, 1, 1)
//	fmt.Println(r.Mean, r.Quantile(0.99), queueing.Theory(c).Mean)
package queueing
