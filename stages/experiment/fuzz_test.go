package experiment

import (
	"os"
	"testing"
)

// FuzzLoad: whatever the text, Load returns; an error says where; an experiment
// that loads prints as one that loads to the same grid.
func FuzzLoad(f *testing.F) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(doc), "")
	for _, text := range []string{
		least, "", "a: &x [*x]", "workloads: [{name: w, r: {sweep: [1, 2], zip: z, per_replica: true}}]\n" + least[len("workloads: [{name: w, generator: g}]\n"):],
		"? a\n: b", "a: |\n  x\n", "'a\n", "\"\\x41\\u2028\"", "workloads:\n- name: w\n  e:\n  - name: \"1\"\n    x: .5e1\nclusters:\n- name: c\nrouters: [a, {name: b, t: {value: 1_0, per_replica: true}}]\n",
		"routers: [r]\nclusters: [{name: c, \"a: b\": \"\\t\\\"\"}]\nworkloads: [{name: w, é: [[], {}]}]", "{}", "[", "a:\n b:\n  - - c", "%TAG ! x\n---\n", "!!binary x", "\r0", "%T ! '!! G ! ! \r\n---",
	} {
		f.Add(text, "")
		f.Add(text, "workloads.*.x={sweep: [1]}")
	}
	f.Add(least, "workloads.*.\xff={sweep: [1]}")
	f.Add("balls: [{name: b, n: {sweep: [1, 2]}}]\npolicies: [a]\ndispatch: [{name: d}]", "policies.a.d=2")
	f.Fuzz(func(t *testing.T, text, set string) {
		options := Options{}
		if set != "" {
			options.Set = []string{set}
		}
		e, err := Load("x.yaml", []byte(text), options)
		if err != nil {
			placed(t, err, text)
			return
		}
		resolved := ""
		for _, job := range jobs {
			points := e.Points[job.name]
			if len(points) > 1000 {
				return
			}
			if resolved == "" {
				resolved = string(e.Resolved())
			}
			again, err := Load("x.yaml", []byte(resolved), Options{})
			if err != nil {
				t.Fatalf("%q resolved is\n%s\nwhich does not load: %v", text, resolved, err)
			}
			if len(again.Points[job.name]) != len(points) {
				t.Fatalf("%q resolved is\n%s\nwith %d points to %s, want %d", text, resolved, len(again.Points[job.name]), job.name, len(points))
			}
			for i, p := range points {
				if got, want := flatten(again, again.Points[job.name][i]), flatten(e, p); got != want {
					t.Fatalf("%q resolved is\n%s\npoint %d is\n%s\nwant\n%s", text, resolved, i, got, want)
				}
			}
		}
	})
}
