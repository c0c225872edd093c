package main

import (
	"io"
	"strings"
	"testing"

	"switchyard/stages/experiment"
)

// TestListedExamplesAreSections loads every example that list prints, with what
// it lacks of an experiment, and plans it.
func TestListedExamplesAreSections(t *testing.T) {
	const (
		workloads = "workloads: [{name: w, generator: tool-use, requests: 100, arrivals: {process: poisson, rate_rps: 1}}]\n"
		clusters  = "clusters: [{name: c, replicas: 2, model: mistral-7b, gpu: a6000}]\n"
		routers   = "routers: [round-robin, cache-aware]\n"
		dispatch  = "dispatch: [{name: d, servers: 4, load: 0.5}]\n"
	)
	found := 0
	for _, k := range kinds() {
		for _, i := range k.all() {
			if i.example == "" {
				if k.name != "experiments" {
					t.Errorf("list %s %s has no example", k.name, i.name)
				}
				continue
			}
			found++
			text := strings.TrimSpace(i.example) + "\n"
			for _, section := range []string{workloads, clusters, routers, dispatch} {
				key, _, _ := strings.Cut(section, ":")
				job := strings.Contains(text, "policies:") || strings.Contains(text, "balls:")
				if strings.Contains(text, "systems:") || strings.HasPrefix(text, key+":") || job != (key == "dispatch") || strings.Contains(text, "\n"+key+":") || strings.HasPrefix(text, "balls:") {
					continue
				}
				text += section
			}
			if !strings.HasPrefix(text, "name:") {
				text = "name: listed\nreplications: 1\n" + text
			}
			s := study{}
			var err error
			if s.experiment, err = experiment.Load("listed.yaml", []byte(text), experiment.Options{}); err == nil {
				err = s.makePlans()
			}
			if err != nil && !readsFile(text, err) {
				t.Errorf("list %s %s: %v in\n%s", k.name, i.name, err, text)
			}
			if err := i.describe(io.Discard); err != nil {
				t.Errorf("list %s %s: %v", k.name, i.name, err)
			}
		}
	}
	if found < 60 {
		t.Errorf("%d examples, expected one of each item", found)
	}
}

// readsFile reports whether all that is wrong is that the example's file is not there.
func readsFile(text string, err error) bool {
	for _, line := range strings.Split(err.Error(), "\n") {
		if !strings.Contains(line, "no such file") {
			return false
		}
	}
	return strings.Contains(text, "trace:") || strings.Contains(text, "file:") || strings.Contains(text, "questions:")
}

// TestEveryParameterIsListed: what config prints of an experiment is in list.
func TestEveryParameterIsListed(t *testing.T) {
	s := study{}
	_, data, err := readExperiment("quickstart")
	if err != nil {
		t.Fatal(err)
	}
	if s.experiment, err = experiment.Load("", data, experiment.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.makePlans(); err != nil {
		t.Fatal(err)
	}
	var listed strings.Builder
	for _, k := range kinds() {
		for _, i := range k.all() {
			if err := i.describe(&listed); err != nil {
				t.Fatal(err)
			}
		}
	}
	listed.WriteString("  policy  \n  process  \n  law  \n  world  \n  optimiser  \n  system  \n  arrivals  \n  scheduler  \n") // named by their lists
	for _, path := range s.experiment.Paths() {
		name := path[strings.LastIndex(path, ".")+1:]
		if !strings.Contains(listed.String(), "  "+name+" ") && !strings.Contains(listed.String(), "."+name+" ") {
			t.Errorf("%s is in no list", path)
		}
	}
}
