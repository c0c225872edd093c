package workload

import (
	"math"
	"testing"

	"switchyard/sim/param"
)

// moments is a mean and a standard deviation.
type moments struct{ mean, sd float64 }

// table1 is table 1 of Preble (2025).
var table1 = []struct {
	generator                            string
	prompt, output, shared, key, sharers moments
}{
	{"tool-use", moments{1835, 742}, moments{43, 16}, moments{.85, .13}, moments{.76, .16}, moments{39, 64}},
	{"embodied-agent", moments{2285, 471}, moments{16, 13}, moments{.97, .14}, moments{.76, .12}, moments{48, 8}},
	{"programming", moments{3871, 1656}, moments{190, 343}, moments{.97, .074}, moments{.78, .13}, moments{126, 2157}},
	{"video-qa", moments{9865, 5976}, moments{4, 1.5}, moments{.88, .32}, moments{.99, .002}, moments{8.6, 2}},
	{"long-documents", moments{23474, 6105}, moments{16, 9.9}, moments{.91, .24}, moments{.94, .15}, moments{18, 8.6}},
}

// profiles measures a generator with its defaults over replications.
func profiles(t *testing.T, name string, requests, replications int, change func(Generator)) []Profile {
	t.Helper()
	entry, ok := FindGenerator(name)
	if !ok {
		t.Fatalf("no generator %q", name)
	}
	g := entry.New()
	param.Defaults(g)
	if change != nil {
		change(g)
	}
	arrivals := &Poisson{Rate{10}}
	var ps []Profile
	for r := 1; r <= replications; r++ {
		w, err := (&Spec{Seed: 1, Replication: r, Requests: requests, Generator: g, Arrivals: arrivals}).Build()
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, w.Profile())
	}
	return ps
}

func average(ps []Profile, f func(*Profile) float64) float64 {
	var sum float64
	for i := range ps {
		sum += f(&ps[i])
	}
	return sum / float64(len(ps))
}

// The five workloads have the figures of the table, over 30 replications and at
// two sizes: means within 5 %, deviations within 15 %, of the sharers the mean
// only.
func TestTable1(t *testing.T) {
	const replications = 30
	for _, requests := range []int{2000, 8000} {
		testTable1(t, requests, replications)
	}
}

func testTable1(t *testing.T, requests, replications int) {
	for _, row := range table1 {
		ps := profiles(t, row.generator, requests, replications, nil)
		t.Logf("%s, %d requests, %d replications: measured (published)", row.generator, requests, replications)
		for _, c := range []struct {
			name     string
			want     moments
			mean, sd func(*Profile) float64
			meanOnly bool
		}{
			{"prompt tokens", row.prompt, func(p *Profile) float64 { return p.PromptMean }, func(p *Profile) float64 { return p.PromptSD }, false},
			{"output tokens", row.output, func(p *Profile) float64 { return p.OutputMean }, func(p *Profile) float64 { return p.OutputSD }, false},
			{"shared share", row.shared, func(p *Profile) float64 { return p.SharedMean }, func(p *Profile) float64 { return p.SharedSD }, false},
			{"key share", row.key, func(p *Profile) float64 { return p.KeyMean }, func(p *Profile) float64 { return p.KeySD }, false},
			{"sharers", row.sharers, func(p *Profile) float64 { return p.SharersMean }, func(p *Profile) float64 { return p.SharersSD }, true},
		} {
			mean, sd := average(ps, c.mean), average(ps, c.sd)
			t.Logf("  %-14s mean %9.4g (%g)%8.1f %%   sd %9.4g (%g)%8.1f %%", c.name,
				mean, c.want.mean, 100*(mean/c.want.mean-1), sd, c.want.sd, 100*(sd/c.want.sd-1))
			if off := math.Abs(mean/c.want.mean - 1); !(off <= 0.05) {
				t.Errorf("%s: mean of %s is %.4g, expected %g within 5 %%", row.generator, c.name, mean, c.want.mean)
			}
			if off := math.Abs(sd/c.want.sd - 1); !c.meanOnly && !(off <= 0.15) {
				t.Errorf("%s: deviation of %s is %.4g, expected %g within 15 %%", row.generator, c.name, sd, c.want.sd)
			}
		}
	}
}
