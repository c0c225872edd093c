package cascade_test

import (
	"fmt"

	"switchyard/sim/cascade"
	"switchyard/sim/param"
)

// Four questions on a weak model at 1 dollar a call and a strong one at 10. A
// cascade that knows a wrong answer when it sees one is as good as the oracle,
// but pays for both models where the first is wrong.
func Example() {
	t := &cascade.Table{
		Models: []string{"weak", "strong"},
		Score:  []float32{1, 1, 0, 1, 1, 0, 0, 0},
		Cost:   []float32{1, 10, 1, 10, 1, 10, 1, 10},
	}
	for _, name := range []string{"single", "oracle", "cascade"} {
		e, _ := cascade.Find(name)
		p := e.New()
		param.Defaults(p)
		fitted, err := p.Fit(t, cascade.Env{Seed: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		curve := cascade.Curve(fitted, t)
		last := curve[len(curve)-1]
		fmt.Printf("%-8s %.2f right at %.2f dollars, AIQ %.3f\n", name, last.Quality, last.Cost, cascade.AIQ(curve, 1, 10))
	}
	// Output:
	// single   0.50 right at 10.00 dollars, AIQ 0.500
	// oracle   0.75 right at 3.25 dollars, AIQ 0.719
	// cascade  0.75 right at 6.00 dollars, AIQ 0.681
}
