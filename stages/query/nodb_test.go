//go:build !duckdb || !cgo

package query

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWithoutDuckDB(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, viewsName), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), dir, "SELECT 1", Options{}, os.Stderr)
	if !errors.Is(err, ErrNoDuckDB) || !strings.Contains(err.Error(), "-tags duckdb") {
		t.Fatalf("error %v", err)
	}
}
