package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"sync"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
	"switchyard/stages/trace"
)

// traceItem are the keys of a trace, beside those of package trace.
type traceItem struct {
	Trace    string  `yaml:"trace" required:"true" doc:"file of the trace, from the experiment file's folder; ${VAR} is replaced"`
	Resample string  `yaml:"resample" default:"none" enum:"none|auto" doc:"none: the trace as recorded, in one replication; auto: replication r is the r-th bootstrap resample, of whole sessions where they are known, else of windows, which breaks the reuse of prefixes across windows"`
	WindowS  float64 `yaml:"resample_window_s" default:"900" min:"0.001" max:"1000000000" unit:"s" doc:"length of a window that is resampled, in recorded time: shorter ones break more reuse, longer ones are fewer to draw from"`
}

// TraceParams returns the parameters of a trace, as pointers to structs.
func TraceParams() []any { return []any{new(traceItem), new(trace.Source), new(trace.Options)} }

// traceID names a file and how it is read.
type traceID struct {
	path   string
	source trace.Source
}

// loaded is a trace in memory with the digest of its file.
type loaded struct {
	trace  *trace.Trace
	digest string
}

// playback is a trace as an item plays it. It is safe for concurrent use.
type playback struct {
	parameters []string
	cut        *trace.Requests
	fixed      bool     // not resampled
	source     string   // see Variant.Source
	notes      []string // see Variant.Notes
	each       func(replication int, seed uint64, emit func(*workload.Request) error) error
}

// play decodes a section that names a trace.
func (d *Decoder) play(s experiment.Section, replicas int, beside ...any) (*playback, error) {
	var item traceItem
	var source trace.Source
	var options trace.Options
	if err := s.Decode(replicas, append(beside, &item, &source, &options)...); err != nil {
		return nil, err
	}
	path, err := s.Path("trace")
	if err != nil {
		return nil, err
	}
	if _, known := trace.Find(source.Format); !known && source.Format != "" {
		return nil, s.Errorf("format", "one of "+strings.Join(trace.Names(), ", ")+", or none to have it told by the first bytes", trace.Names())
	}
	t, err := d.load(traceID{path, source})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.Errorf("trace", "a file that is there: its digest tells which requests these are, also where table workload has them: "+err.Error(), nil)
	}
	if err != nil {
		return nil, s.Errorf("trace", "a readable trace: "+err.Error(), nil)
	}
	cut, err := t.trace.Cut(options)
	if err != nil {
		return nil, s.Errorf("trace", err.Error(), nil)
	}
	p := &playback{cut: cut, parameters: []string{"trace=" + t.digest}, notes: t.trace.Notes()}
	p.parameters = append(p.parameters, fmt.Sprintf("format=%s", t.trace.Format.Name), fmt.Sprintf("block_tokens=%d", cut.BlockTokens()))
	p.parameters = append(p.parameters, param.Canonical(&options)...)
	if item.Resample == "none" {
		var untouched traceItem
		param.Defaults(&untouched)
		if item.WindowS != untouched.WindowS { // a resolved file has the default
			return nil, s.Errorf("resample_window_s", "resample: auto beside it; without, the trace is played as it was recorded", nil)
		}
		p.fixed, p.source = true, recorded
		p.each = func(_ int, _ uint64, emit func(*workload.Request) error) error {
			return cut.Each(func(_ int, r *workload.Request) error { return emit(r) })
		}
		return p, nil
	}
	p.parameters = append(p.parameters, "resample="+item.Resample, "resample_window_s="+param.Format(item.WindowS))
	speed := options.Speed
	options.Speed = 1
	whole, err := t.trace.Cut(options)
	if err != nil {
		return nil, s.Errorf("trace", err.Error(), nil)
	}
	p.resample(whole, item.WindowS, speed)
	return p, nil
}

// resample plays bootstrap resamples. They are drawn from the trace as it was
// recorded and sped up then, so that all speeds play the same ones.
func (p *playback) resample(whole *trace.Requests, windowS, speed float64) {
	windowUs := max(1, int64(windowS*1e6))
	// Finding the units takes as long as reading, so it waits for the first use.
	sampler := sync.OnceValue(func() *workload.Resampler { return workload.NewResampler(whole, windowUs) })
	p.source = resampled(whole, windowUs)
	scale := func(us int64) int64 { return int64(math.Round(float64(us) / speed)) }
	p.each = func(replication int, seed uint64, emit func(*workload.Request) error) error {
		return sampler().Each(rng.New(seed, replication, "workload/resample"), func(r *workload.Request) error {
			if r.After == workload.None {
				r.ArrivalUs = scale(r.ArrivalUs)
			}
			r.ThinkUs = scale(r.ThinkUs)
			return emit(r)
		})
	}
}

// load reads a trace, once for every way of reading it.
func (d *Decoder) load(id traceID) (*loaded, error) {
	if l, ok := d.traces[id]; ok {
		return l, nil
	}
	file, err := experiment.Open(id.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; make one file of its tables, with DuckDB: copy (from '%s/*.parquet') to 'one.parquet'", id.path, id.path)
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	t, err := trace.Read(id.path, file, id.source)
	if err != nil {
		return nil, err
	}
	l := &loaded{t, hex.EncodeToString(digest.Sum(nil))}
	if d.traces == nil {
		d.traces = map[traceID]*loaded{}
	}
	d.traces[id] = l
	return l, nil
}

// trace decodes an item that plays a trace.
func (d *Decoder) trace(in experiment.Instance, replicas int) (*Variant, error) {
	p, err := d.play(in.Section, replicas)
	if err != nil {
		return nil, err
	}
	v := &Variant{Name: in.Name, seed: d.Seed, requests: p.cut.Len(), blockTokens: p.cut.BlockTokens(), parameters: p.parameters}
	v.fixed, v.source, v.notes = p.fixed, p.source, p.notes
	if v.blockTokens == 0 {
		v.blockTokens = 16
	}
	v.each = func(replication int, emit func(*workload.Request) error) error {
		return p.each(replication, d.Seed, emit)
	}
	return v.seal(), nil
}
