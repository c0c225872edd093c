package aggregate

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// provenance takes the experiment's name from the footer of `cells`, so that
// the tables have the same bytes whether a run or a later command made them.
func provenance(dir string) (table.Provenance, error) {
	paths, err := filepath.Glob(filepath.Join(dir, simulate.Cells.Name, "part-*.parquet"))
	if err != nil || len(paths) == 0 {
		return table.Provenance{}, fmt.Errorf("%s holds no table cells; run the experiment first", dir)
	}
	path := paths[0]
	f, err := os.Open(path)
	if err != nil {
		return table.Provenance{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return table.Provenance{}, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return table.Provenance{}, fmt.Errorf("%s: %w", path, err)
	}
	name, _ := file.Lookup("experiment")
	return table.Provenance{Experiment: name}, nil
}
