package table

import "reflect"

// Placing returns the table with a second thing that compaction does to every
// row, after Place: f sets the columns that a task's key does not cover and its
// position does, such as the names that an experiment gives its variants. What
// f sets may depend on the position alone.
func (t *Table[T]) Placing(f func(row *T, index int32)) *Table[T] {
	placed := *t
	placed.placing = f
	return &placed
}

// settle brings a row up to date with its task's position.
func (t *Table[T]) settle(row *T, index int32) {
	if p, ok := any(row).(Placer); ok {
		p.Place(index)
	}
	if t.placing != nil {
		t.placing(row, index)
	}
}

// current reports whether settling the rows of a table that is in place would
// change nothing. Only the hook of Placing can change such rows.
func (c compactor[T]) current(m *merge) (bool, error) {
	if c.table.placing == nil {
		return true, nil
	}
	current := true
	g := newGatherer[T](m.files, c.window)
	defer g.close()
	err := g.each(m.placed, func(s segment, _ bool, rows []T) error {
		for i := range rows {
			settled := rows[i]
			c.table.settle(&settled, s.place)
			current = current && reflect.DeepEqual(settled, rows[i])
		}
		return nil
	})
	return current, err
}
