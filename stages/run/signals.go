package run

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Signals returns a channel for Options.Signals that gets SIGINT and SIGTERM,
// and a function that gives them back to the runtime. It serves any number of
// jobs, one after the other.
func Signals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

// listen calls stop at the first signal and abort at the second, or at the end
// of the caller's context; it returns when done is closed.
func listen(ctx context.Context, signals <-chan os.Signal, done <-chan struct{}, stop, abort func()) {
	received := 0
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			abort()
			return
		case <-signals:
			if received++; received == 1 {
				stop()
				continue
			}
			abort()
			return
		}
	}
}
