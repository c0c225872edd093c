package trace_test

import (
	"fmt"
	"strings"

	"switchyard/sim/workload"
	"switchyard/stages/trace"
)

// Two calls of a BurstGPT file at double speed; the failed one between them is
// left out, and the trace says so.
func Example() {
	file := `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,0,1087,Conversation log
118,GPT-4,417,276,693,API log
`
	t, err := trace.Read("burst.csv", strings.NewReader(file), trace.Source{})
	if err != nil {
		fmt.Println(err)
		return
	}
	cut, err := t.Cut(trace.Options{Speed: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	cut.Each(func(i int, r *workload.Request) error {
		_, err := fmt.Println(i, r.ArrivalUs, r.Prompt, r.Output, r.Tags)
		return err
	})
	fmt.Println(t.Format.Name, t.Notes())
	// Output:
	// 0 0 472 18 [ChatGPT Conversation log]
	// 1 56500000 417 276 [GPT-4 API log]
	// burstgpt [burst.csv: 1 of 3 records left out: no output tokens]
}
