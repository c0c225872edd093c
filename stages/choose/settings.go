package choose

import (
	"context"
	"fmt"
	"slices"

	"switchyard/stages/run"
	"switchyard/stages/table"
)

// name is that of a random stream of the pool.
func (at sample) name(of string) string { return fmt.Sprintf("choose/%d/%s", at.pool, of) }

// occasion is a setting in one of its replications, or a piece of its space.
type occasion struct {
	*setting
	place       int32 // position in the grid of settings and replications
	replication int
	first, last int   // pools, from 0; last is not among them
	from, to    int64 // assignments; of assignments alone
}

// occasions lists the settings in their replications.
func (p *Plan) occasions() (all []occasion) {
	for _, s := range p.settings {
		for _, r := range s.replications {
			all = append(all, occasion{setting: s, place: int32(len(all)), replication: r, last: s.world.source.pools()})
		}
	}
	return all
}

func (o *occasion) key(seed uint64) string {
	return cellKey(append([]string{"switchyard settings", canonical(&o.world.examine)}, o.parts...), seed, o.replication)
}

func (p *Plan) settingsJob(options Options) run.Job {
	all := p.occasions()
	pieces := p.pieces(all)
	j := run.Job{Name: SettingsJob, Tables: []table.Definition{
		Worlds.Placing(func(row *WorldRow, index int32) { all[index].label(&row.Setting) }),
		Pools.Placing(func(row *PoolRow, index int32) { all[index].label(&row.Setting) }),
		Assignments.Placing(func(row *AssignmentRow, index int32) { row.Setting = pieces[index].place }),
	}}
	seed := p.Experiment.Seed
	for i := range all {
		o := &all[i]
		j.Tasks = append(j.Tasks, run.Task{
			Key: o.key(seed), Index: int32(i), Name: fmt.Sprintf("%s / replication %d", o.name(), o.replication),
			Tables: []string{Worlds.Name, Pools.Name}, Weight: float64(o.last) * surveyCost, Repro: options.Again,
			Run: func(ctx context.Context, _, _ any, out *run.Sink) error { return p.describe(ctx, o, out) },
		})
	}
	for i := range pieces {
		o := &pieces[i]
		j.Tasks = append(j.Tasks, run.Task{
			Key:   fmt.Sprintf("%s/%d-%d/%d-%d", o.key(seed), o.first, o.last, o.from, o.to),
			Index: int32(i), Name: fmt.Sprintf("%s / replication %d / assignments from %d", o.name(), o.replication, o.from),
			Tables: []string{Assignments.Name}, Weight: float64(o.last-o.first) * float64(o.to-o.from), Repro: options.Again,
			Run: func(ctx context.Context, _, _ any, out *run.Sink) error { return p.enumerate(ctx, o, out) },
		})
	}
	return j
}

// surveyCost is what a survey costs, in assignments that are counted.
const surveyCost = 20_000

// label gives a row what depends on the experiment file alone and is no part of
// the key.
func (o *occasion) label(row *Setting) {
	row.System, row.World, row.SystemPoint, row.WorldPoint, row.Factors = o.systemName, o.worldName, o.systemPoint, o.worldPoint, o.factors
}

// head is the head of an occasion's rows.
func (p *Plan) head(o *occasion, at sample) Setting {
	row := Setting{Setting: o.place, SettingKey: o.key(at.seed), Seed: int64(at.seed), Replication: int32(at.replication), Pool: int32(at.pool)}
	o.label(&row)
	return row
}

// describe writes the facts of the pools of a setting.
func (p *Plan) describe(ctx context.Context, o *occasion, out *run.Sink) error {
	var worlds []WorldRow
	var pools []PoolRow
	for k := o.first; k < o.last; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := p.sampleOf(o.replication, k)
		pool, err := o.world.source.pool(o.system, at)
		if err != nil {
			return fmt.Errorf("pool %d: %w", at.pool, err)
		}
		row, err := worldRow(pool, o.world.examine.Contexts, at)
		if err != nil {
			return fmt.Errorf("pool %d: %w", at.pool, err)
		}
		row.Setting = p.head(o, at)
		worlds = append(worlds, row)
		for _, a := range pool.abilities {
			pools = append(pools, PoolRow{Setting: row.Setting, Module: a.module, Skill: a.skill, Candidate: a.candidate, Ability: a.chance, Train: a.train, Test: a.test, Cost: a.cost})
		}
	}
	out.Write(Worlds.Rows(worlds))
	if len(pools) > 0 {
		out.Write(Pools.Rows(pools))
	}
	return nil
}

// worldRow surveys a pool.
func worldRow(p *pool, contexts int, at sample) (WorldRow, error) {
	known, err := look(p)
	if err != nil {
		return WorldRow{}, err
	}
	row := WorldRow{Modules: p.modules, Space: known.size, Train: int32(newJudge(p.train).questions()), Warnings: p.doubts}
	if p.test != nil {
		row.Test = int32(p.test.Questions())
	}
	for _, of := range p.candidates {
		row.Candidates = append(row.Candidates, int32(len(of)))
	}
	if s := known.single; s != nil {
		name := p.candidates[0][s.alloc[0]]
		row.Single, row.SingleTrain, row.SingleTest = &name, &s.train, &s.test
	}
	if s := known.optimum; s != nil {
		text, kinds := p.text(s.alloc), p.distinct(s.alloc)
		row.Optimum, row.OptimumTrain, row.OptimumTest, row.OptimumTied, row.OptimumKinds = &text, &s.train, &s.test, &known.tied, &kinds
	}
	if p.paid {
		contexts = 0
	}
	if !p.paid && known.space.AtMost(mostKnown) {
		for _, side := range []struct {
			*judge
			to **float64
		}{{newJudge(p.train), &row.OracleTrain}, {newJudge(p.last()), &row.OracleTest}} {
			b := bounds{judge: side.judge}
			alloc := make([]int32, len(p.modules))
			for more := true; more; more = known.space.Next(alloc) {
				if _, err := b.accuracy(alloc); err != nil {
					return row, err
				}
				b.include()
			}
			*side.to = finite(b.oracle())
		}
	}
	return row, row.judgeAssumptions(p, &known.space, contexts, at)
}

// mostRows is how many assignments a task of table assignments writes: a row
// group.
const mostRows = 1 << 17

// pieces cuts the spaces that are kept into tasks.
func (p *Plan) pieces(all []occasion) (cut []occasion) {
	keep := p.Experiment.Tables.Assignments
	for _, o := range all {
		size := spaceOf(o.candidates)
		if o.able.paid || keep == "none" || keep == "small" && size > mostKnown || size > 1<<40 {
			continue
		}
		whole := int(max(1, mostRows/size)) // pools in a task
		for k := 0; k < o.last; k += whole {
			for from := int64(0); from < size; from += mostRows {
				piece := o
				piece.first, piece.last = k, min(k+whole, o.last)
				piece.from, piece.to = from, min(from+mostRows, size)
				cut = append(cut, piece)
			}
		}
	}
	return cut
}

// spaceOf is the number of assignments, or the greatest number there is.
func spaceOf(candidates [][]string) int64 {
	size := int64(1)
	for _, of := range candidates {
		if n := int64(len(of)); size > 1<<62/n {
			return 1<<63 - 1
		}
		size *= int64(len(of))
	}
	return size
}

// ranger is implemented by worlds that count a range of their space at once.
type ranger interface {
	CountRange(first int64, dst []int32) error
}

// enumerate writes a piece of a space.
func (p *Plan) enumerate(ctx context.Context, o *occasion, out *run.Sink) error {
	n := int(o.to - o.from)
	rows := make([]AssignmentRow, 0, n*(o.last-o.first))
	train, test := make([]float64, n), make([]float64, n)
	for k := o.first; k < o.last; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := p.sampleOf(o.replication, k)
		pool, err := o.world.source.pool(o.system, at)
		if err != nil {
			return fmt.Errorf("pool %d: %w", at.pool, err)
		}
		if err := newJudge(pool.train).span(o.from, train); err != nil {
			return err
		}
		copy(test, train)
		if pool.test != nil {
			if err := newJudge(pool.test).span(o.from, test); err != nil {
				return err
			}
		}
		alloc := allocAt(pool.candidates, o.from)
		row := AssignmentRow{Setting: o.place, Replication: int32(at.replication), Pool: int32(at.pool)}
		for i := range n {
			row.Assignment, row.AccuracyTrain, row.AccuracyTest = o.from+int64(i), train[i], test[i]
			if pool.priced {
				if row.Cost, err = pool.train.Cost(alloc); err != nil {
					return err
				}
			}
			rows = append(rows, row)
			advance(pool.candidates, alloc)
		}
	}
	out.Write(Assignments.Rows(rows))
	out.Count(int64(len(rows)))
	return nil
}

// span writes the accuracies of the assignments from a number on.
func (j *judge) span(from int64, dst []float64) error {
	if c, ok := j.world.(ranger); ok {
		counts := make([]int32, len(dst))
		if err := c.CountRange(from, counts); err != nil {
			return err
		}
		for i, n := range counts {
			dst[i] = float64(n) / float64(j.world.Questions())
		}
		return nil
	}
	sizes := make([][]string, j.world.Modules())
	for m := range sizes {
		sizes[m] = make([]string, j.world.Candidates(m))
	}
	alloc := allocAt(sizes, from)
	for i := range dst {
		var err error
		if dst[i], err = j.accuracy(alloc); err != nil {
			return err
		}
		advance(sizes, alloc)
	}
	return nil
}

// allocAt is the assignment of a number: the last module's candidate advances
// fastest.
func allocAt(candidates [][]string, number int64) []int32 {
	alloc := make([]int32, len(candidates))
	for m := range slices.Backward(candidates) {
		k := int64(len(candidates[m]))
		alloc[m] = int32(number % k)
		number /= k
	}
	return alloc
}

// advance makes an assignment the next one.
func advance(candidates [][]string, alloc []int32) {
	for m := len(alloc) - 1; m >= 0; m-- {
		if alloc[m]++; int(alloc[m]) < len(candidates[m]) {
			return
		}
		alloc[m] = 0
	}
}
