package run

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"sync"
)

// schedule hands tasks to workers. Groups come in the order of their first
// task, a group's tasks heaviest first. A worker takes from the first group
// that is not just being opened, and opens it if need be, so that one group's
// opening overlaps with another's work.
//
// No more inputs than workers are ever open: a group is opened only when no
// open one has a task to start, so each of those that are open has a task in
// another worker's hands.
type schedule struct {
	mu      sync.Mutex
	changed sync.Cond
	queues  []*queue // in order; those that are over stay until they are trimmed from the front
	byGroup map[*Group]*queue
	open    int // inputs open or being opened
	flight  int // tasks handed out and not yet finished
	pending int // tasks not yet handed out
	stopped bool
}

// state of a queue's input.
type state int

const (
	inputClosed state = iota
	inputOpening
	inputOpen
)

// queue is the tasks of one group that wait, and their input.
type queue struct {
	group  *Group // nil for the tasks without one
	tasks  taskHeap
	state  state
	flight int // tasks in flight
	shared any
	err    error // of opening
	listed bool  // stands in schedule.queues
}

func newSchedule() *schedule {
	s := &schedule{byGroup: make(map[*Group]*queue)}
	s.changed.L = &s.mu
	return s
}

// add puts tasks into their groups' queues.
func (s *schedule) add(tasks []*Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range tasks {
		q := s.byGroup[t.Group]
		if q == nil {
			q = &queue{group: t.Group}
			if t.Group == nil {
				q.state = inputOpen
			}
			s.byGroup[t.Group] = q
		}
		if !q.listed {
			q.listed = true
			s.queues = append(s.queues, q)
		}
		heap.Push(&q.tasks, t)
		s.pending++
	}
	s.changed.Broadcast()
}

// ticket is a task on its way through a worker.
type ticket struct {
	task *Task
	q    *queue
}

// tryNext returns a task if one can start now. over says that none ever will:
// all is done, or the schedule is stopped. drained says that what is left, if
// anything, is in other workers' hands.
func (s *schedule) tryNext(ctx context.Context) (t ticket, ok, drained, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ticket{}, false, true, true
	}
	q := s.pick()
	if q == nil {
		return ticket{}, false, s.pending == 0, s.pending == 0 && s.flight == 0
	}
	t = ticket{heap.Pop(&q.tasks).(*Task), q}
	s.pending--
	s.flight++
	q.flight++
	if q.state == inputClosed {
		s.openInput(ctx, q)
	}
	return t, true, false, false
}

// wait blocks until tryNext may have another answer.
func (s *schedule) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped && s.pick() == nil && (s.pending > 0 || s.flight > 0) {
		s.changed.Wait()
	}
}

// pick returns the queue to take from now, or nil.
func (s *schedule) pick() *queue {
	for len(s.queues) > 0 && len(s.queues[0].tasks) == 0 {
		s.queues[0].listed = false
		s.queues = s.queues[1:]
	}
	for _, q := range s.queues {
		if len(q.tasks) > 0 && q.state != inputOpening {
			return q
		}
	}
	return nil
}

// openInput opens q's input with the schedule unlocked meanwhile.
func (s *schedule) openInput(ctx context.Context, q *queue) {
	q.state = inputOpening
	s.open++
	s.mu.Unlock()
	shared, err := openGroup(ctx, q.group)
	s.mu.Lock()
	q.shared, q.err, q.state = shared, err, inputOpen
	s.changed.Broadcast()
}

// openGroup calls Open and turns a panic into an error.
func openGroup(ctx context.Context, g *Group) (shared any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
		if err != nil {
			err = fmt.Errorf("open %s: %w", g.Name, err)
		}
	}()
	return g.Open(ctx)
}

// finish ends a task, adds those that follow from it, and drops the group's
// input with its last task.
func (s *schedule) finish(t ticket, follow []*Task) {
	s.add(follow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight--
	t.q.flight--
	if q := t.q; q.group != nil && q.flight == 0 && len(q.tasks) == 0 {
		q.shared, q.err, q.state = nil, nil, inputClosed
		s.open--
		delete(s.byGroup, q.group)
	}
	s.changed.Broadcast()
}

// stop lets no further task start.
func (s *schedule) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.changed.Broadcast()
}

// taskHeap has the heaviest task on top, the smallest index among equals.
type taskHeap []*Task

func (h taskHeap) Len() int      { return len(h) }
func (h taskHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h taskHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].weight(), h[i].weight()), cmp.Compare(h[i].Index, h[j].Index)) < 0
}
func (h *taskHeap) Push(x any) { *h = append(*h, x.(*Task)) }
func (h *taskHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = slices.Delete(*h, last, last+1)
	return t
}
