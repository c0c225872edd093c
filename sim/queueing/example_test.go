package queueing_test

import (
	"fmt"

	"switchyard/sim/queueing"
)

func Example() {
	c := queueing.NewConfig() // 16 servers, load 0.9, Poisson arrivals, exponential sizes
	c.Policy = &queueing.LWL{Ties: queueing.Ties{Rule: "random"}}
	r, err := new(queueing.Sim).Run(c, 1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := queueing.Theory(c)
	fmt.Printf("%d requests: mean %.2f, P99 %.1f\n", r.Requests, r.Mean, r.P99)
	fmt.Printf("%s %s: mean %.2f, P99 %.1f\n", v.Kind, v.Model, v.Mean, v.P99)
	// Output:
	// 50000 requests: mean 1.44, P99 5.5
	// exact M/M/16: mean 1.37, P99 5.3
}

func ExampleBalls() {
	for _, choices := range []int{1, 2} {
		b := queueing.Balls{Bins: 100000, Choices: choices, Replacement: true}
		r, err := b.Run(1, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("d = %d: the fullest of 100,000 bins holds %d balls\n", choices, r.Max)
	}
	// Output:
	// d = 1: the fullest of 100,000 bins holds 9 balls
	// d = 2: the fullest of 100,000 bins holds 4 balls
}
