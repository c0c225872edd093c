// Package selection chooses a candidate (a model, or a model with a prompt) for
// each module of a compound system.
//
// A World answers labelled questions under an allocation of candidates to
// modules; an Optimiser looks for the allocation that answers best.
package selection
