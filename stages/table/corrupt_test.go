package table

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damaged writes three parts, damages the second and opens the folder.
func damaged(t *testing.T, s study, damage func([]byte) []byte) (*Parts, string) {
	t.Helper()
	dir := t.TempDir()
	for i, key := range s.keys {
		writePart(t, samples, dir, 0, i, s.rows, key)
	}
	path := filepath.Join(dir, partsFolder, partName("samples", 0, 1))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damage(data), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := OpenParts(dir, samples)
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// A part that is empty, cut anywhere or no Parquet at all moves aside, with
// its reason; the others stay.
func TestCorruptPartsMoveAside(t *testing.T) {
	s := makeStudy(rand.New(rand.NewPCG(6, 1)), 3, 40)
	cases := map[string]func([]byte) []byte{
		"empty":       func([]byte) []byte { return nil },
		"text":        func([]byte) []byte { return []byte("PAR1 is how it begins PAR1") },
		"zeros":       func(b []byte) []byte { return make([]byte, len(b)) },
		"no end":      func(b []byte) []byte { return b[:len(b)-1] },
		"half":        func(b []byte) []byte { return b[:len(b)/2] },
		"long footer": func(b []byte) []byte { b[len(b)-5] = 0x7f; return b },
		"page":        func(b []byte) []byte { b[len(b)/3] ^= 0x10; return b },
		"no start":    func(b []byte) []byte { return b[100:] },
		"task list": func(b []byte) []byte {
			i := strings.LastIndex(string(b), s.keys[1])
			b[i+7] = '9'
			return b
		},
	}
	for name, damage := range cases {
		p, dir := damaged(t, s, damage)
		if len(p.Reports) != 1 || p.Reports[0].Err == nil || !strings.HasSuffix(p.Reports[0].To, ".parquet.corrupt") {
			t.Errorf("%s: reports %v", name, p.Reports)
			continue
		}
		if _, err := os.Stat(p.Reports[0].To); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := p.Keys["samples"][s.keys[1]]; ok || len(p.Keys["samples"]) != 2 {
			t.Errorf("%s: keys %v, expected those of the other two parts", name, p.Keys["samples"])
		}
		compactWith(t, dir, s.place, finishedShape, windowBytes)
		rows, err := samples.Read(dir)
		if err != nil || len(rows) != len(s.rows[s.keys[0]])+len(s.rows[s.keys[2]]) {
			t.Errorf("%s: %d rows after compaction, %v", name, len(rows), err)
		}
	}
}

// One wrong bit in a page or in the list of tasks is found. Elsewhere (page
// headers, statistics, the rest of the footer) the format has no checksum:
// there, the file moves aside at once, or when its rows cannot be decoded, or
// reads as before.
func TestFlippedBits(t *testing.T) {
	s := makeStudy(rand.New(rand.NewPCG(7, 1)), 3, 30)
	want := map[string]int{}
	for _, row := range s.table() {
		want[show(row)]++
	}
	r := rand.New(rand.NewPCG(7, 2))
	var moved, failed, same, wrong int
	const trials = 100
	for range trials {
		p, dir := damaged(t, s, func(b []byte) []byte {
			b[4+r.IntN(len(b)-4)] ^= 1 << r.IntN(8)
			return b
		})
		if len(p.Reports) > 0 {
			moved++
			continue
		}
		c, err := samples.Compact(dir, s.place, testProvenance)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Moved) > 0 {
			failed++
			continue
		}
		rows, err := samples.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		ok := len(rows) == len(s.table())
		for _, row := range rows {
			ok = ok && want[show(row)] > 0
		}
		if ok {
			same++
		} else {
			wrong++
		}
	}
	t.Logf("of %d flipped bits %d moved the file aside, %d made reading fail, %d changed nothing, %d changed rows", trials, moved, failed, same, wrong)
	if moved < trials/3 || wrong > 0 {
		t.Fatalf("%d found, %d changed rows silently", moved, wrong)
	}
}

// A corrupt finished file costs its own tasks only.
func TestCorruptFinishedFile(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	dir := t.TempDir()
	s := makeStudy(r, 20, 300)
	s.scatter(t, r, dir, 0, s.keys)
	c := compactWith(t, dir, s.place, smallShape, windowBytes)
	if c.Files < 3 {
		t.Fatalf("%d files, expected several", c.Files)
	}
	whole := contents(t, dir)
	path := filepath.Join(dir, "samples", finishedName(1))
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	p, err := OpenParts(dir, samples)
	if err != nil || len(p.Reports) != 1 {
		t.Fatalf("reports %v, %v", p.Reports, err)
	}
	var missing []string
	for _, key := range s.keys {
		if _, ok := p.Keys["samples"][key]; !ok {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 || len(missing) > 15 {
		t.Fatalf("%d tasks are missing", len(missing))
	}
	s.scatter(t, r, dir, p.Next, missing) // run again
	compactWith(t, dir, s.place, smallShape, windowBytes)
	for name, data := range whole {
		if contents(t, dir)[name] != data {
			t.Fatalf("%s differs after the repair", name)
		}
	}
}

func TestOutdatedPartsMoveAside(t *testing.T) {
	dir := t.TempDir()
	writePart(t, samples, dir, 0, 0, nil, "a")
	next := New[sample]("samples", "Rows with every type of column.")
	next.Version = 2
	p, err := OpenParts(dir, next)
	if err != nil || len(p.Reports) != 1 || !errors.Is(p.Reports[0].Err, errOutdated) || !strings.HasSuffix(p.Reports[0].To, ".outdated") {
		t.Fatalf("reports %v, %v", p.Reports, err)
	}
}

// A disk that cannot be read is an error, and no reason to move files.
func TestUnreadableIsNotCorrupt(t *testing.T) {
	if os.Getuid() == 0 {
		dir := t.TempDir()
		path := filepath.Join(dir, partsFolder, partName("samples", 0, 0))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		// A link to nowhere cannot be opened, whoever asks.
		if err := os.Symlink(filepath.Join(dir, "nowhere"), path); err != nil {
			t.Fatal(err)
		}
		if p, err := OpenParts(dir, samples); err == nil {
			t.Fatalf("opened %+v, expected an error", p)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Fatal("the file was moved")
		}
	}
}

// Looking at a folder finds what opening it finds, and changes nothing, also
// where a compaction was interrupted.
func TestInspectParts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	dir := t.TempDir()
	s := makeStudy(r, 9, 40)
	s.scatter(t, r, dir, 0, s.keys[:5])
	compactWith(t, dir, s.place, finishedShape, windowBytes)
	s.scatter(t, r, dir, 10, s.keys[5:])
	k := &killer{at: -1}
	d := k.disk()
	stop := d.before
	d.before = func(op, path string) error {
		if op == "rename" && filepath.Base(path) == finishedName(0) {
			k.at = k.steps // after the journal, before its work
		}
		return stop(op, path)
	}
	_, err := compactor[sample]{table: samples, disk: d, dir: dir, place: s.place, prov: testProvenance, shape: finishedShape, window: windowBytes}.run()
	if !errors.Is(err, errKilled) {
		t.Fatalf("error %v", err)
	}
	bad := filepath.Join(dir, partsFolder, partName("samples", 0, 77))
	if err := os.WriteFile(bad, []byte("PAR1"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	looked, err := InspectParts(dir, samples)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(contents(t, dir), before) {
		t.Fatal("looking changed the folder")
	}
	opened, err := OpenParts(dir, samples)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(looked.Keys["samples"], opened.Keys["samples"]) || len(looked.Keys["samples"]) != len(s.keys) ||
		looked.Next != opened.Next || len(looked.Reports) != 1 || looked.Reports[0].Path != bad || looked.Reports[0].To != "" {
		t.Fatalf("looked at %+v, opened %+v", looked, opened)
	}
	if p, err := InspectParts(filepath.Join(dir, "nowhere"), samples); err != nil || len(p.Keys["samples"]) != 0 {
		t.Fatalf("a missing folder: %+v, %v", p, err)
	}
}

// FuzzOpenPart gives any bytes as a part: the folder opens, the bytes are
// either used or moved aside, and compaction works.
func FuzzOpenPart(f *testing.F) {
	dir := f.TempDir()
	writePart(f, samples, dir, 0, 0, map[string][]sample{"a": makeSamples(1, 0, 3)}, "a")
	for _, data := range contents(f, dir) {
		f.Add([]byte(data))
		f.Add([]byte(data[:len(data)-9]))
	}
	f.Add([]byte("PAR1"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, partsFolder, partName("samples", 0, 0))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := OpenParts(dir, samples)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Files)+len(p.Reports) != 1 {
			t.Fatalf("%d parts and %d reports, expected one in all", len(p.Files), len(p.Reports))
		}
		if p.Keys["samples"]["a"] == 3 && len(p.Files) == 1 {
			samples.Compact(dir, map[string]int32{"a": 0}, testProvenance)
		}
	})
}
