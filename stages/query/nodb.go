//go:build !duckdb || !cgo

package query

import "context"

func run(context.Context, string, string, string, printer) error { return ErrNoDuckDB }
