package outcomes

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"switchyard/sim/rng"
	"switchyard/stages/trace"
)

// checkRead reads anything and holds what comes out against the package's
// promises: a table is valid, an error is one line that begins with its file.
func checkRead(t *testing.T, data []byte, s Source) {
	t.Helper()
	o, err := Read("f", bytes.NewReader(data), s)
	if err != nil {
		var e *trace.Error
		if errors.As(err, &e) && (e.File != "f" || e.Problem == "") {
			t.Fatalf("error without file or problem: %q", err)
		}
		if !strings.HasPrefix(err.Error(), "f") {
			t.Fatalf("error without its file: %q", err)
		}
		return
	}
	held := 0
	if o.Questions != nil {
		held++
		if err := o.Questions.Validate(); err != nil {
			t.Fatalf("table is not valid: %v", err)
		}
	}
	if m := o.Modules; m != nil {
		held++
		if _, err := m.World([]int{0}); err != nil || m.Missing() < 0 {
			t.Fatalf("%v, %d missing", err, m.Missing())
		}
	}
	if a := o.Averages; a != nil {
		held++
		if a.Missing() < 0 || a.Questions() < 1 {
			t.Fatalf("%d missing of %d questions", a.Missing(), a.Questions())
		}
	}
	if held != 1 {
		t.Fatalf("%d tables from format %s", held, o.Format.Name)
	}
}

func FuzzTables(f *testing.F) {
	for _, s := range []string{routeSample, publishSample, routerSample, benchSample, agentSample, moduleSample, plainSample} {
		f.Add([]byte(s), "")
		f.Add([]byte(s[:len(s)/2]), "plain")
	}
	f.Add([]byte("id,a\n1,1e400\n"), "")
	f.Add([]byte("question,module0,score\n\"\n\",\"\",nan\n"), "modules")
	f.Add([]byte("module0,accuracy_pct,cost_usd_0q\nA,NaN,-1\n"), "agentopt")
	f.Add([]byte("\x1f\x8b"), "")
	f.Fuzz(func(t *testing.T, data []byte, format string) { checkRead(t, data, Source{Format: format}) })
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(jsonSample))
	f.Add([]byte(linesSample))
	f.Add([]byte("[" + strings.ReplaceAll(strings.TrimSpace(linesSample), "\n", ",") + "]"))
	f.Add([]byte(`{"records": [{"origin_query": [1], "score": "1", "index": {"a": 1}, "cost": -0}], "model_name": 3}`))
	f.Add([]byte(`{"records": {"origin_query": null}}`))
	f.Add([]byte(`[{"records": []}]`))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, data, Source{}) })
}

// idRow is a row of a small plain table.
type idRow struct {
	ID    int64   `parquet:"id"`
	Group string  `parquet:"dataset"`
	A     float64 `parquet:"a"`
	B     bool    `parquet:"b"`
}

func smallParquet(t testing.TB) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[idRow](&file)
	if _, err := w.Write([]idRow{{1, "x", 0, true}, {2, "", 0.5, false}, {3, "x", 1, true}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func FuzzParquet(f *testing.F) {
	f.Add(smallParquet(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			return // a small file can claim much, and the decoder believes it
		}
		checkRead(t, data, Source{})
	})
}

// Every file that differs in one or two bytes from a whole one is read or
// refused.
func TestDamagedParquet(t *testing.T) {
	whole, s := smallParquet(t), rng.New(1, 1, "damage")
	for range 500 {
		data := bytes.Clone(whole)
		for range 1 + s.IntN(2) {
			data[s.IntN(len(data))] = byte(s.IntN(256))
		}
		checkRead(t, data, Source{})
		checkRead(t, data[:s.IntN(len(data))], Source{Format: "plain"})
	}
}
