package choose

import (
	"strings"
	"testing"
)

// TestPlanErrors: what is wrong is said where it stands, before anything runs.
func TestPlanErrors(t *testing.T) {
	const head = "name: f\nreplications: 1\n"
	for text, want := range map[string]string{
		"systems: [debat]\nworlds: [toy]\noptimisers: [single]\n":                                                                                                  `f.yaml:3:11: systems[0].system: value "debat": expected one of direct, locate-solve`,
		"systems: [debate]\nworlds: [tay]\noptimisers: [single]\n":                                                                                                 `did you mean "toy"?`,
		"systems: [debate]\nworlds: [toy]\noptimisers: [greed]\n":                                                                                                  `did you mean "greedy"?`,
		"systems: [debate]\nworlds: [case-study]\noptimisers: [single]\n":                                                                                          "made for system locate-solve",
		"systems: [debate]\nworlds: [toy]\noptimisers: [oracle]\n":                                                                                                 "chooses for each question anew",
		"systems: [debate]\nworlds: [{name: t, world: toy, starts: 0, models: 10}]\noptimisers: [greedy]\n":                                                        "there are 1000000 assignments",
		"systems: [locate-solve]\nworlds: [{name: t, world: toy, start: [A]}]\noptimisers: [greedy]\n":                                                             "a candidate for each of locate, solve",
		"systems: [locate-solve]\nworlds: [{name: t, world: toy, start: [A, F]}]\noptimisers: [greedy]\n":                                                          "for module solve one of A, B, C, D, E",
		"systems: [locate-solve]\nworlds: [{name: t, world: toy, luck: 0.9}]\noptimisers: [greedy]\n":                                                              "luck",
		"systems: [locate-solve]\nworlds: [{name: t, world: toy, prices: [1, 2]}]\noptimisers: [greedy]\n":                                                         "a number for each of the 5 models",
		"systems: [direct]\nworlds: [toy]\noptimisers: [cascade]\n":                                                                                                `f.yaml:5:14: optimisers[0].optimiser: value "cascade": expected one that can be built: world toy: table has no costs: give a price for each model`,
		"systems: [direct]\nworlds: [{name: t, world: toy, models: 1, prices: [1]}]\noptimisers: [mix]\n":                                                          "table has one model, A",
		"systems: [direct]\nworlds: [{name: t, world: toy, models: 2, prices: [1, 2]}]\noptimisers: [{name: m, optimiser: mix, weak: C}]\n":                        `f.yaml:5:46: optimisers[0].weak: value "C": expected one of A, B`,
		"systems: [direct]\nworlds: [{name: t, world: toy, models: 2, prices: [1, 2]}]\noptimisers: [{name: m, optimiser: mix, weak: B, strong: B}]\n":             "optimisers[0].strong: value \"B\": expected another model than the weak one",
		"systems: [debate]\nworlds: [toy]\noptimisers: [{name: l, optimiser: greedy, lambda: 1}]\n":                                                                `f.yaml:5:51: optimisers[0].lambda: value "1": expected none in world toy, where nothing has a price`,
		"systems: [direct]\nworlds: [toy]\noptimisers: [{name: o, optimiser: oracle, dollars: 1}]\n":                                                               "optimisers[0].dollars: value \"1\": expected none in world toy",
		"systems: [debate]\nworlds: [toy]\noptimisers: [{name: l, optimiser: llmselector, tolerance: 0}]\n":                                                        "optimisers[0].tolerance: value \"0\": expected none in world toy",
		"systems: [debate]\nworlds: [toy]\noptimisers: [{name: l, optimiser: exhaustive, budget: 15624}]\n":                                                        "more assignments than its budget of 15624, take random",
		"systems: [{name: d, system: debate, generators: 90}]\nworlds: [toy]\noptimisers: [exhaustive]\n":                                                          "more assignments than its budget of 1000000, take random",
		"systems: [{name: g, system: graph, modules: {a: {reads: [query], models: [A]}, b: {reads: [a], models: [B, C]}}}]\nworlds: [toy]\noptimisers: [single]\n": "no candidate can stand at all of a, b",
		"systems: [locate-solve]\nworlds: [toy]\noptimisers: [greedy, {name: again, optimiser: greedy}]\n":                                                         "the two are the same runs under two names",
		"systems: [{name: g, system: graph}]\nworlds: [toy]\noptimisers: [single]\n":                                                                               "the modules by name",
		"systems: [{name: g, system: graph, modules: {a: {reads: [b]}}}]\nworlds: [toy]\noptimisers: [single]\n":                                                   `reads "b", which is no module`,
		"systems: [debate]\nworlds: [{name: t, world: toy, models: 2, prices: [1, 1e308]}]\noptimisers: [greedy]\n":                                                `f.yaml:4:51: worlds[0].prices: value "[1, 1e308]": expected a list of numbers from 0 to 1000000 (dollars)`,
		graphOf("plan: {reads: [query]}", "b: {reads: [plam]}"):                                                                                                    `f.yaml:8:18: systems[0].modules.b.reads: value "[plam]": expected one that can be built: module b reads "plam", which is no module; did you mean "plan"?`,
		graphOf("a: {reads: [c]}", "b: {reads: [a]}", "c: {reads: [b]}"):                                                                                           `f.yaml:7:18: systems[0].modules.a.reads: value "[c]": expected one that can be built: modules read each other in a circle: a reads c reads b reads a`,
		graphOf("a: {reads: [query]}", "c: {rule: critic, reads: [query]}"):                                                                                        `f.yaml:8:32: systems[0].modules.c.reads`,
		graphOf("a: {reads: [query]}", "b: {reads: [a], models: [Z]}"):                                                                                             `f.yaml:8:31: systems[0].modules.b.models: value "[Z]": expected one that can be built: module b: the world has no model "Z"`,
		graphOf("a: {reads: [query], models: [A, A]}", "b: {reads: [a]}"):                                                                                          `f.yaml:7:35: systems[0].modules.a.models: value "[A, A]": expected one that can be built: module a has the model A twice`,
		graphOf("a: {reads: [query]}", "b: {rule: critic, reads: [a]}"):                                                                                            `f.yaml:8:17: systems[0].modules.b.rule: value "critic": expected one that can be built: the output b is a critic`,
		"systems: [{name: g, system: graph, modules: {a: {red: [query]}}}]\nworlds: [toy]\noptimisers: [single]\n":                                                 "red: unknown key",
	} {
		_, err := planOf(head + text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

// graphOf is an experiment with a system of these modules, from line 6 on.
func graphOf(modules ...string) string {
	return "systems:\n  - system: graph\n    name: g\n    modules:\n      " + strings.Join(modules, "\n      ") + "\nworlds: [toy]\noptimisers: [greedy]\n"
}

// TestKeys: what decides a cell's rows is in its key, and nothing else is.
func TestKeys(t *testing.T) {
	keyOf := func(changes ...string) string { return mustPlan(t, changes...).Runs[4].Key }
	same := keyOf()
	for _, change := range [][]string{
		{"models: 3", "models: 4", "[3, 2, 1]", "[3, 2, 1, 1]"}, {"starts: 2", "starts: 3"}, {"train: 70", "train: 71"}, {"seed: 7", "seed: 8"},
		{"- llmselector\n", "- {name: llmselector, optimiser: llmselector, gamma: 0.5}\n"}, {"- llmselector\n", "- {name: llmselector, optimiser: llmselector, lambda: 0.5}\n"},
		{"systems: [locate-solve,", "systems: [{name: locate-solve, system: locate-solve, calls: [2, 1]},"},
	} {
		if keyOf(change...) == same {
			t.Errorf("%v leaves the key", change)
		}
	}
	for _, change := range [][]string{{"name: toy,", "name: other,"}, {"contexts: 5", "contexts: 6"}, {"name: pair", "name: couple"}} {
		if keyOf(change...) != same {
			t.Errorf("%v changes the key", change)
		}
	}
}

// TestPlanAnswersNothing: a plan of a world that no memory holds takes no time.
func TestPlanAnswersNothing(t *testing.T) {
	p, err := planOf("name: f\nreplications: 1\nsystems: [debate]\nworlds: [{name: t, world: toy, models: 1000, train: 10000000, test: 10000000, prompts: 10}]\noptimisers: [single, greedy]\n")
	if err != nil || len(p.Runs) != 2 || len(p.settings[0].candidates[0]) != 10000 {
		t.Errorf("%v", err)
	}
}

// TestGraph: a system of one's own is planned in the order of what it reads.
func TestGraph(t *testing.T) {
	p, err := planOf("name: f\nreplications: 1\nsystems: [{name: g, system: graph, modules: {merge: {rule: vote, reads: [a, b, c]}, a: {reads: [query]}, b: {reads: [query]}, c: {reads: [query]}}}]\n" +
		"worlds: [{name: toy, world: toy, pools: 1}]\noptimisers: [single, greedy]\n")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	execute(t, p, dir, 2)
	for _, r := range read(t, Selections, dir) {
		if r.Modules != 3 || !strings.HasPrefix(r.Assignment, "a=") {
			t.Errorf("chose %s for %d modules", r.Assignment, r.Modules)
		}
	}
}
