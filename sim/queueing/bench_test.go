package queueing

import (
	"fmt"
	"syscall"
	"testing"

	"switchyard/sim/param"
)

// cpuSeconds returns the processor time that this process has used, which a
// busy machine changes less than the clock's.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime)
}

func benchmark(b *testing.B, change func(c *Config)) {
	c := NewConfig()
	c.Traffic.Requests = 2_000_000
	change(c)
	param.Defaults(c.Policy)
	var sim Sim
	if _, err := sim.Run(c, 1, 1); err != nil { // grows the arrays
		b.Fatal(err)
	}
	b.ReportAllocs()
	start := cpuSeconds()
	runs := 0
	for b.Loop() {
		if _, err := sim.Run(c, 1, runs); err != nil {
			b.Fatal(err)
		}
		runs++
	}
	requests := float64(runs) * float64(c.Traffic.Requests)
	b.ReportMetric(requests/b.Elapsed().Seconds()/1e6, "Mreq/s")
	b.ReportMetric(requests/(cpuSeconds()-start)/1e6, "Mreq/cpu-s")
}

func BenchmarkDispatch(b *testing.B) {
	for _, servers := range []int{16, 1000} {
		for _, p := range Policies() {
			b.Run(fmt.Sprintf("%s/%d", p.Name, servers), func(b *testing.B) {
				benchmark(b, func(c *Config) {
					c.System.Servers = servers
					c.Policy = p.New()
					if c.Policy.sees() == seesExpected {
						c.Traffic.Requests /= 10
					}
				})
			})
		}
	}
}

func BenchmarkStale(b *testing.B) {
	for _, model := range []string{"periodic", "continuous", "continuous-exponential", "individual", "own"} {
		for _, p := range []Policy{jsqPolicy, jsqOfPolicy} {
			b.Run(model+"/"+p.Name, func(b *testing.B) {
				benchmark(b, func(c *Config) {
					c.System.Servers, c.Traffic.Requests, c.Policy = 100, 200_000, p.New()
					c.Information = Information{Model: model, Age: 2}
				})
			})
		}
	}
}

func BenchmarkProcessorSharing(b *testing.B) {
	for _, p := range []Policy{randomPolicy, jsqPolicy, jsqOfPolicy} {
		b.Run(p.Name, func(b *testing.B) {
			benchmark(b, func(c *Config) {
				c.System.Discipline, c.Traffic.Requests, c.Policy = "ps", 200_000, p.New()
			})
		})
	}
}

func BenchmarkBalls(b *testing.B) {
	for _, choices := range []int{1, 2, 3} {
		b.Run(fmt.Sprintf("%d", choices), func(b *testing.B) {
			balls := Balls{Bins: 10_000_000, Choices: choices, Replacement: true}
			for b.Loop() {
				if _, err := balls.Run(1, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*1e7/b.Elapsed().Seconds()/1e6, "Mballs/s")
		})
	}
}
