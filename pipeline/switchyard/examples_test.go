package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scaled is what commands in help get added, and the run that README's first
// command makes, to take a second rather than a minute.
const scaled = "--set workloads.*.requests=200 --seeds 1..2"

// example is a command that the documentation shows.
type example struct {
	where, command string
	scale          string // flags added to what runs an experiment
}

// shownFile is an experiment file in the README: its name is its first line.
var shownFile = regexp.MustCompile("(?s)```yaml\n# (\\S+\\.yaml)\n(.*?)```")

// needsDuckDB are the commands that work only with DuckDB in the program.
var needsDuckDB = regexp.MustCompile("switchyard (query|reproduce)|--strict")

// TestShownCommandsWork runs every command of README.md and of the help
// texts, in order, in one folder, with the files that README.md shows.
func TestShownCommandsWork(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range shownFile.FindAllStringSubmatch(readme, -1) {
		write(file[1], file[2])
	}
	write("conversation.jsonl", conversation())
	write("answers.csv", answers())
	write("questions.csv", rowQuestions)
	write("failures.csv", labelledFailures)
	arithmetic := httptest.NewServer(http.HandlerFunc(serveArithmetic))
	defer arithmetic.Close()
	write("rate-2.csv", measuredRun(500))
	write("rate-4.csv", measuredRun(250))
	write(".config/fish/completions/none", "")

	examples := append([]example{{"run.sh", "switchyard run quickstart --out out/quickstart " + scaled, ""}}, readmeExamples(readme)...)
	examples = append(examples, helpExamples()...)
	if len(examples) < 40 {
		t.Fatalf("found %d commands, expected those of README.md and of the help texts", len(examples))
	}
	for _, e := range examples {
		if !version().DuckDB && needsDuckDB.MatchString(e.command) {
			continue
		}
		cmd := exec.Command("bash", "-euc", `fpath=("" "$HOME"); `+e.scaledCommand())
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "LLM_URL="+arithmetic.URL, "LLM_KEY="+toyKey)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v\n%s", e.where, e.scaledCommand(), err, out)
		}
	}
}

func (e example) scaledCommand() string {
	words := strings.Fields(e.command)
	if e.scale == "" || len(words) < 2 {
		return e.command
	}
	switch words[1] {
	case "run", "generate", "simulate", "queue", "choose", "serve":
		return e.command + " " + e.scale
	}
	return e.command
}

var shellBlock = regexp.MustCompile("(?s)(?:<!-- test: ([^>]*) -->\n)?```sh\n(.*?)```")

// readmeExamples are the lines of the README's sh blocks; the comment before a
// block says how to scale it.
func readmeExamples(readme string) (examples []example) {
	for _, block := range shellBlock.FindAllStringSubmatch(readme, -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[2]), "\n") {
			examples = append(examples, example{"README.md", line, block[1]})
		}
	}
	return examples
}

// helpExamples are the indented lines of the commands' usage texts.
func helpExamples() (examples []example) {
	app := newApp(io.Discard, io.Discard)
	texts := map[string]string{"help": app.Description}
	order := []string{"help"}
	for _, c := range app.Commands {
		texts[c.Name], order = c.UsageText, append(order, c.Name)
	}
	for _, name := range order {
		for _, line := range strings.Split(texts[name], "\n") {
			if command, ok := strings.CutPrefix(line, "  "); ok {
				e := example{"help " + name, command, ""}
				switch {
				case strings.Contains(command, "quickstart"):
					e.scale = scaled
				case strings.Contains(command, "reproduce"):
					e.scale = "--replications 1..2"
				}
				examples = append(examples, e)
			}
		}
	}
	return examples
}

// measuredRun is a measured run of a few requests, one every gapMs.
func measuredRun(gapMs int) string {
	var b strings.Builder
	b.WriteString("arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,replica\n")
	for i := range 40 {
		prompt, output := 500+37*(i%17), 20+i%9
		ttft := 0.01 + 45e-6*float64(prompt)
		fmt.Fprintf(&b, "%.3f,%d,%d,%.4f,%.4f,0\n", float64(i*gapMs)/1e3, prompt, output, ttft, ttft+0.0125*float64(output-1))
	}
	return b.String()
}

// conversation is a trace in Mooncake's format: sessions that grow by a block
// a turn, behind one shared block.
func conversation() string {
	var b strings.Builder
	for i := range 60 {
		session, turn := i%6, i/6
		ids := []string{"0"}
		for block := range turn + 1 {
			ids = append(ids, fmt.Sprint(1+session*100+block))
		}
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%s]}`+"\n",
			i*900, 512*len(ids)-7, 20+i%9, strings.Join(ids, ", "))
	}
	return b.String()
}

// answers are recorded outcomes of two models, the dearer one better at long
// questions.
func answers() string {
	var b strings.Builder
	b.WriteString("question,question_chars,small,large\n")
	for i := range 120 {
		chars := 40 + 53*i%900
		small, large := 0, 0
		if chars < 500 || i%7 == 0 {
			small = 1
		}
		if i%6 != 0 {
			large = 1
		}
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", i, chars, small, large)
	}
	return b.String()
}

// TestShownChoiceIsPrinted: the choice of models that README.md shows is what
// lecture-case prints.
func TestShownChoiceIsPrinted(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "locate-solve in from-cc\n"
	_, shown, found := strings.Cut(string(data), "```\n"+head)
	shown, _, closed := strings.Cut(shown, "```")
	if !found || !closed {
		t.Fatalf("README.md has no block that begins with %s", head)
	}
	var out, stderr bytes.Buffer
	code := execute([]string{"run", "lecture-case", "--out", filepath.Join(t.TempDir(), "case"), "--set", "worlds.*.pools=1"}, &out, &stderr)
	if code == 0 || !strings.Contains(stderr.String(), "pools: unknown key") {
		t.Errorf("a fixed world takes pools: exit code %d, %s", code, &stderr)
	}
	stderr.Reset()
	code = execute([]string{"run", "lecture-case", "--out", filepath.Join(t.TempDir(), "case"), "--set", "worlds.drawn-from-cc.pools=1", "--set", "worlds.drawn-all-starts.pools=1"}, &out, &stderr)
	if code != 0 || !strings.Contains(out.String(), head+shown) {
		t.Errorf("exit code %d, printed\n%s%s\nexpected in it\n%s", code, &out, &stderr, head+shown)
	}
}

// TestShownComparisonIsPrinted: the comparison that README.md shows is what
// quickstart prints at that load.
func TestShownComparisonIsPrinted(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const load = "documents rate_rps=0.25 a replica on "
	_, shown, found := strings.Cut(string(data), "```\n"+load)
	shown, _, closed := strings.Cut(shown, "```")
	if !found || !closed {
		t.Fatalf("README.md has no block that begins with %s", load)
	}
	var out, stderr bytes.Buffer
	code := execute([]string{"run", "quickstart", "--out", filepath.Join(t.TempDir(), "quickstart"), "--set", "workloads.tool.requests=10",
		"--set", "workloads.documents.arrivals.rate_rps={sweep: [0.25], per_replica: true}"}, &out, &stderr)
	if code != 0 || !strings.Contains(out.String(), load+shown) {
		t.Errorf("exit code %d, printed\n%s%s\nexpected in it\n%s", code, &out, &stderr, load+shown)
	}
}
