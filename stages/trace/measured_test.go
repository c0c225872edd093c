package trace

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadMeasured(t *testing.T) {
	// Out of order, and one that failed.
	m, err := ReadMeasured("run.csv", strings.NewReader(`arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,replica,cached_tokens
0.780739,987,128,0.059438,1.615632,0,
0.5,1010,128,0.072784,1.652685,1,16
0.9,5,0,,,1,
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Latency{{72784, 1652685, 16}, {59438, 1615632, -1}}; !reflect.DeepEqual(m.Latency, want) {
		t.Errorf("latencies %+v, want %+v", m.Latency, want)
	}
	if m.Requests[0].ArrivalUs != 0 || m.Requests[1].ArrivalUs != 280739 || m.Requests[0].Served != 2 {
		t.Errorf("requests are %+v", m.Requests)
	}
	if notes := m.Notes(); len(notes) != 1 || notes[0] != "run.csv: 1 of 3 records left out: no tokens or no latencies" {
		t.Errorf("notes %q", notes)
	}
}

func TestPlainErrors(t *testing.T) {
	requests := "arrival_us,prefix_group,prefix_tokens,prompt_tokens,output_tokens\n"
	measured := "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n"
	for text, want := range map[string]string{
		requests + "0,1,9,8,1\n":    "f:2: prefix_tokens is `9`, expected at most the prompt_tokens, which hold the prefix, in `0,1,9,8,1`",
		requests + "0,1.5,2,8,1\n":  "f:2: prefix_group is `1.5`, expected a whole number, negative or empty for none, in `0,1.5,2,8,1`",
		requests + "0,1,1,8,0\n":    "f:2: output_tokens is 0, expected at least 1: leave such rows out (where output_tokens > 0)",
		measured + "0,1,1,2,1\n":    "f:2: e2e_s is `1`, expected at least ttft_s: both count from the arrival, in `0,1,1,2,1`",
		measured + "0,1,1,-0.5,1\n": "f:2: ttft_s is `-0.5`, expected seconds since the arrival, of at least 0, in `0,1,1,-0.5,1`",
	} {
		if _, err := Read("f", strings.NewReader(text), Source{}); err == nil || err.Error() != want {
			t.Errorf("%q:\n%v, want\n%s", text, err, want)
		}
	}
	if _, err := ReadMeasured("f", strings.NewReader(measured+"0,1,1,,\n")); err == nil || !strings.Contains(err.Error(), "none of 1 records") {
		t.Errorf("a recording without latencies: %v", err)
	}
}
