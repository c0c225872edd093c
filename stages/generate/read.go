package generate

import (
	"fmt"

	"switchyard/sim/workload"
)

// FromTable reads a replication of a variant back from table `workload` of an
// experiment's folder; ok is false where the table does not hold it. The
// workload equals what Build makes.
func FromTable(dir string, v *Variant, replication int) (w *workload.Workload, ok bool, err error) {
	found, ok, err := Requests.ReadKey(dir, v.taskKey(replication))
	if err != nil || !ok {
		return nil, false, err
	}
	b := v.builder()
	var r workload.Request
	for i := range found {
		found[i].request(&r)
		if err := b.Add(&r); err != nil {
			return nil, false, fmt.Errorf("table %s, variant %s, replication %d, request %d: %w", Requests.Name, v.ID(), replication, i, err)
		}
	}
	w, err = b.Build()
	return w, err == nil, err
}
