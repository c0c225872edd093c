//go:build !duckdb || !cgo

package query

import "context"

const available = false

func run(context.Context, string, string, string, printer) error { return ErrNoDuckDB }

func open(context.Context, string, string) (session, error) { return nil, ErrNoDuckDB }
