package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// cellKey hashes all that decides what happens in a cell: seed, replication,
// and the parameters of workload, cluster and router that differ from their
// defaults, with the stage's version. It leaves out what a person may change
// without changing a run: names, baseline, warm-up, objective, tables and
// workers. Each part is preceded by its length, so that no two sets of parts
// read the same.
func cellKey(seed uint64, replication int, c *Config) string {
	h := sha256.New()
	for _, part := range []string{
		"switchyard cell",
		strconv.Itoa(Version),
		strconv.FormatUint(seed, 10),
		strconv.Itoa(replication),
		c.Workload.Key(),
		c.Cluster.key(),
		c.Router.key(),
	} {
		fmt.Fprintf(h, "%d\n%s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
