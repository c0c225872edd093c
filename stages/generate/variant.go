package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"switchyard/sim/workload"
)

// Version is raised by hand when the same parameters come to give other
// requests.
const Version = 1

// Variant is one workload of an experiment with every parameter resolved. It
// is safe for concurrent use.
type Variant struct {
	Name        string
	Point       string // with its swept values, for people; the name where nobody says otherwise
	seed        uint64
	parameters  []string // name=value of all that is not at its default, in a fixed order
	id          string
	requests    int
	rate        float64
	blockTokens int32
	fixed       bool
	source      string
	notes       []string
	each        func(replication int, emit func(*workload.Request) error) error
}

// seal completes a variant.
func (v *Variant) seal() *Variant {
	sum := sha256.Sum256([]byte(v.Key()))
	v.id, v.Point = hex.EncodeToString(sum[:6]), v.Name
	return v
}

// Key is the identity of the resolved parameters, those at their defaults left
// out, with the stage's version and, for a trace, a digest of its file. It
// does not depend on names, seed or replication.
func (v *Variant) Key() string {
	return fmt.Sprintf("version=%d\n%s", Version, strings.Join(v.parameters, "\n"))
}

// ID is a short form of Key, column `variant` of the tables.
func (v *Variant) ID() string { return v.id }

// Requests is the number of requests, for a resampled trace about.
func (v *Variant) Requests() int { return v.requests }

// RateRps is the offered mean rate; 0 for traces and closed loops.
func (v *Variant) RateRps() float64 { return v.rate }

// Fixed says that all replications are the same: a trace that is not
// resampled.
func (v *Variant) Fixed() bool { return v.fixed }

// Replications returns those of the wanted ones that differ: of a fixed
// workload the first alone.
func (v *Variant) Replications(wanted []int) []int {
	if v.fixed && len(wanted) > 1 {
		return wanted[:1]
	}
	return wanted
}

// Source says where the requests come from: "generated"; "recorded", that is a
// trace as it was recorded; or, of a trace's bootstrap resamples, what they are
// drawn from: "resampled sessions", "resampled 4 windows of 900 s".
func (v *Variant) Source() string { return v.source }

// Notes says in sentences what was left out of a trace, or rearranged in it.
func (v *Variant) Notes() []string { return v.notes }

// Each calls emit with every request of a replication, in order. The request
// is valid until emit returns.
func (v *Variant) Each(replication int, emit func(*workload.Request) error) error {
	if err := v.each(replication, emit); err != nil {
		return fmt.Errorf("workload %s, replication %d: %w", v.Name, replication, err)
	}
	return nil
}

// Build makes a replication in memory.
func (v *Variant) Build(replication int) (*workload.Workload, error) {
	b := v.builder()
	if err := v.Each(replication, b.Add); err != nil {
		return nil, err
	}
	return b.Build()
}

func (v *Variant) builder() *workload.Builder {
	b := &workload.Builder{BlockTokens: v.blockTokens}
	b.Grow(v.requests)
	return b
}
