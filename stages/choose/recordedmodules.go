package choose

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"switchyard/sim/compound"
	"switchyard/sim/rng"
	"switchyard/sim/selection"
	"switchyard/stages/experiment"
	"switchyard/stages/outcomes"
)

// recordedModules is a world of assignments that answered each question, or of
// which only means are known.
type recordedModules struct {
	table    compound.Names
	scores   *compound.Outcomes // nil where only means are known
	averages *compound.Averages // nil where scores are
	share    float64
	priced   bool
	notes    []string
	digest   string
}

func openModules(s experiment.Section, o *outcomes.Outcomes, p *Recorded) (source, error) {
	r := &recordedModules{scores: o.Modules, averages: o.Averages, share: p.Share, notes: o.Notes}
	var missing int64
	var world selection.World
	if r.averages != nil {
		r.table, missing, world = r.averages.Names, r.averages.Missing(), r.averages
		r.notes = append(r.notes, "means alone are recorded: they judge what was chosen by them")
	} else {
		r.table, missing = r.scores.Names, r.scores.Missing()
		all, err := r.scores.World(everyOne(len(r.scores.Questions)))
		if err != nil {
			return nil, err
		}
		world = all
	}
	if r.scores != nil && len(r.scores.Questions) < 2 {
		return nil, s.Errorf("file", "two questions or more, of which one judges the choice", nil)
	}
	err := r.read(world)
	if missing > 0 {
		return nil, s.Errorf("file", fmt.Sprintf("every assignment of its candidates, on every question (missing: %d): %v", missing, err), nil)
	}
	return r, err
}

func everyOne(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// read goes through all that is recorded, for the key and for prices.
func (r *recordedModules) read(w selection.World) error {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d\n", r.table.Modules, r.table.Candidates, w.Questions())
	space, err := selection.SpaceOf(w)
	if err != nil {
		return err
	}
	j := newJudge(w)
	alloc := make([]int32, w.Modules())
	for more := true; more; more = space.Next(alloc) {
		accuracy, err := j.accuracy(alloc)
		if err != nil {
			return err
		}
		cost, err := w.Cost(alloc)
		if err != nil {
			return err
		}
		r.priced = r.priced || cost > 0
		// A hash takes whatever is written to it.
		_ = binary.Write(h, binary.LittleEndian, []float64{accuracy, cost})
		_ = binary.Write(h, binary.LittleEndian, j.scores)
	}
	r.digest = hex.EncodeToString(h.Sum(nil))
	return nil
}

func (r *recordedModules) key() string { return fmt.Sprintf("%s train_share=%v", r.digest, r.share) }

func (r *recordedModules) drawn() bool { return r.scores != nil }

func (r *recordedModules) pools() int { return 1 }

func (r *recordedModules) able(*system) able { return able{scores: r.scores != nil, free: !r.priced} }

func (r *recordedModules) check(sys *system, s experiment.Section) error {
	if n := len(sys.graph.Decisions()); n != len(r.table.Modules) {
		return s.Errorf("file", fmt.Sprintf("outcomes for a system of as many modules with a language model as %s has, %d: these are of %d, %s",
			sys.name, n, len(r.table.Modules), strings.Join(r.table.Modules, ", ")), nil)
	}
	return r.checkOrder(sys.graph.DecisionNames(), s)
}

// checkOrder refuses columns that are called as modules are and stand in another
// order: columns are the system's modules by their place.
func (r *recordedModules) checkOrder(modules []string, s experiment.Section) error {
	for m, name := range modules {
		if at := slices.Index(r.table.Modules, name); at < 0 || at == m {
			continue
		}
		expected := fmt.Sprintf("columns in the order of the system's modules, %s: these are %s",
			strings.Join(modules, ", "), strings.Join(r.table.Modules, ", "))
		if slices.Contains(s.Keys(), "modules") {
			return s.Errorf("modules", expected, nil)
		}
		return s.Errorf("file", expected+"; for the file's own order say modules: ["+strings.Join(modules, ", ")+"]", nil)
	}
	return nil
}

// names are the system's for the modules, in its order, and the file's for the
// candidates.
func (r *recordedModules) names(sys *system) (modules []string, candidates [][]string) {
	return sys.graph.DecisionNames(), r.table.Candidates
}

func (r *recordedModules) pool(sys *system, at sample) (*pool, error) {
	p := &pool{priced: r.priced, doubts: r.notes}
	p.modules, p.candidates = r.names(sys)
	p.models = r.models()
	if r.averages != nil {
		p.train = r.averages
		return p, nil
	}
	before, after := halves(len(r.scores.Questions), r.share, rng.New(at.seed, at.replication, at.name("split")))
	train, err := r.scores.World(before)
	if err != nil {
		return nil, err
	}
	p.train = train
	if len(after) > 0 {
		p.test, err = r.scores.World(after)
	}
	return p, err
}

// halves draws a share of n questions without replacement, in order, and the
// rest: selection sampling (Knuth, volume 2, algorithm 3.4.2 S).
func halves(n int, share float64, stream *rng.Stream) (some, rest []int) {
	left := min(max(1, int(math.Round(share*float64(n)))), max(1, n-1))
	for q := range n {
		if stream.Float64()*float64(n-q) < float64(left) {
			some = append(some, q)
			left--
		} else {
			rest = append(rest, q)
		}
	}
	return some, rest
}

// models numbers candidates of one name alike in all modules.
func (r *recordedModules) models() [][]int32 {
	known := map[string]int32{}
	all := make([][]int32, len(r.table.Candidates))
	for m, list := range r.table.Candidates {
		for _, name := range list {
			if _, ok := known[name]; !ok {
				known[name] = int32(len(known))
			}
			all[m] = append(all[m], known[name])
		}
	}
	return all
}
