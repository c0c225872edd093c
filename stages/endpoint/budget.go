package endpoint

import (
	"errors"
	"fmt"
	"sync"
)

// ErrSpent says that a run has spent what it may. It does not wrap
// selection.ErrBudget: where calls of many workers share a budget, the moment
// at which it ends depends on their order, and a search that ends there would
// be a result that differs from run to run. The cells that meet it fail, and
// are run when there is more to spend.
var ErrSpent = errors.New("the budget is spent")

// account is what a run has spent.
type account struct {
	limits Limits

	mu       sync.Mutex
	changed  sync.Cond
	calls    int
	dollars  float64
	reserved float64 // the most that the calls in flight may cost
	flying   int
}

func newAccount(l Limits) *account {
	a := &account{limits: l}
	a.changed.L = &a.mu
	return a
}

// reserve takes a call with the most that it may cost from the budget. Where
// that does not fit beside what is in flight, it waits for what the calls there
// turn out to cost, if only to say how much was spent.
func (a *account) reserve(most float64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		called := a.limits.Calls > 0 && a.calls >= a.limits.Calls
		if !called && (a.limits.Dollars == 0 || a.dollars+a.reserved+most <= a.limits.Dollars) {
			a.calls++
			a.reserved += most
			a.flying++
			return nil
		}
		if a.flying == 0 {
			return a.spent()
		}
		a.changed.Wait()
	}
}

// settle puts what a call did cost in the place of what it might have.
func (a *account) settle(most, cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flying--
	if a.reserved -= most; a.flying == 0 {
		a.reserved = 0
	}
	a.dollars += cost
	a.changed.Broadcast()
}

func (a *account) spent() error {
	limit := ""
	if a.limits.Calls > 0 {
		limit = fmt.Sprintf("%d calls", a.limits.Calls)
	}
	if a.limits.Dollars > 0 {
		if limit != "" {
			limit += " and "
		}
		limit += fmt.Sprintf("$%.4f", a.limits.Dollars)
	}
	return fmt.Errorf("%w: %d calls and $%.4f of %s; every answer is kept: raise calls_limit or dollars_limit, or leave them, and give the same command again to go on from here", ErrSpent, a.calls, a.dollars, limit)
}

// Spent is what a run has paid for.
type Spent struct {
	Calls   int     // attempts
	Dollars float64 // with those that failed after the server had begun to answer
}

func (a *account) total() Spent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Spent{a.calls, a.dollars}
}
