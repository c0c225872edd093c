package cascade

import (
	"fmt"
	"slices"
)

var logisticEntry = Entry{
	Name:    "logistic",
	Summary: "the model with the greatest score by logistic regression, less a price times its mean cost",
	Source:  "RouterBench's predictive routers (Hu et al., 2024), with a linear model",
	New:     func() Params { return new(Logistic) },
}

var knnEntry = Entry{
	Name:    "knn",
	Summary: "the model with the greatest score over the nearest training questions, less a price times its mean cost",
	Source:  "RouterBench's KNN router (Hu et al., 2024)",
	New:     func() Params { return new(KNN) },
}

// Logistic routes among many models by predicted score s^ and mean training
// cost c-: to the greatest s^ - l c-, the cheaper of equals.
type Logistic struct {
	Sources
	Models   []string `yaml:"models" doc:"the models; none: all of the table"`
	Ridge    float64  `yaml:"ridge" default:"1" min:"0.000001" max:"1000000" doc:"penalty on squared weights"`
	Settings int      `yaml:"settings" default:"20" min:"1" max:"1000" doc:"number of prices l; one is price 0 alone"`
}

// KNN is Logistic with nearest neighbours.
type KNN struct {
	Sources
	Models    []string `yaml:"models" doc:"the models; none: all of the table"`
	Neighbour int      `yaml:"neighbours" default:"40" min:"1" max:"10000" doc:"number of nearest questions that count"`
	Settings  int      `yaml:"settings" default:"20" min:"1" max:"1000" doc:"number of prices l; one is price 0 alone"`
}

// learner fits predictions of several targets at once, y[q*targets+i].
type learner interface {
	learn(c *coded, labels, targets int, y []float64) predictor
}

// predictor fills to with the predicted targets of a question.
type predictor interface {
	predict(c *coded, q int, to []float64)
}

type byLogistic struct{ ridge float64 }

type logistics []*logistic

func (b byLogistic) learn(c *coded, labels, targets int, y []float64) predictor {
	var all logistics
	one := make([]float64, c.n)
	for i := range targets {
		for q := range one {
			one[q] = y[q*targets+i]
		}
		all = append(all, fitLogistic(c, labels, one, b.ridge))
	}
	return all
}

func (l logistics) predict(c *coded, q int, to []float64) {
	for i, m := range l {
		to[i] = sigmoid(m.linear(c, q))
	}
}

type byNeighbours struct{ k int }

func (b byNeighbours) learn(c *coded, _, targets int, y []float64) predictor {
	return &neighbours{train: c, targets: targets, y: y, k: min(b.k, c.n)}
}

// Suits implements Params.
func (p *Logistic) Suits(t *Table) error { return suitPrices(t, p.Sources, p.Models, p.Settings) }

// Suits implements Params.
func (p *KNN) Suits(t *Table) error { return suitPrices(t, p.Sources, p.Models, p.Settings) }

func suitPrices(t *Table, s Sources, names []string, settings int) error {
	if err := ready(t, settings > 1); err != nil {
		return err
	}
	if _, err := t.models(names); err != nil {
		return err
	}
	return s.suit(t)
}

// Fit implements Params.
func (p *Logistic) Fit(train *Table, _ Env) (Fitted, error) {
	return fitPrices(train, p.Sources, p.Models, byLogistic{p.Ridge}, p.Settings)
}

// Fit implements Params.
func (p *KNN) Fit(train *Table, _ Env) (Fitted, error) {
	return fitPrices(train, p.Sources, p.Models, byNeighbours{p.Neighbour}, p.Settings)
}

// byPrice routes among models by predictions and prices.
type byPrice struct {
	encoder *encoder
	predict predictor
	models  []int32
	cost    []float64 // by entry of models, mean in training
	prices  []float64 // falling
}

func fitPrices(train *Table, s Sources, names []string, l learner, settings int) (Fitted, error) {
	if err := suitPrices(train, s, names, settings); err != nil {
		return nil, err
	}
	f := &byPrice{}
	var err error
	if f.models, err = train.models(names); err != nil {
		return nil, err
	}
	if f.encoder, err = newEncoder(train, s, -1); err != nil {
		return nil, err
	}
	_, cost := train.Means()
	for _, m := range f.models {
		f.cost = append(f.cost, cost[m])
	}
	y := make([]float64, 0, train.Questions()*len(f.models))
	for q := range train.Questions() {
		for _, m := range f.models {
			y = append(y, float64(train.Score[q*len(train.Models)+int(m)]))
		}
	}
	c := f.encoder.encode(train)
	f.predict = l.learn(c, f.encoder.total, len(f.models), y)
	f.prices = append(f.choosePrices(c, settings-1), 0)
	return f, nil
}

// priceSample bounds the training questions that prices are taken from.
const priceSample = 2000

// choosePrices takes prices from quantiles of those at which a training
// question would change from its best predicted model to the cheapest, dear
// first, from one at which all take the cheapest.
func (f *byPrice) choosePrices(c *coded, count int) []float64 {
	cheap := 0
	for i, x := range f.cost {
		if x < f.cost[cheap] {
			cheap = i
		}
	}
	to := make([]float64, len(f.models))
	var turns []float64
	for q := 0; q < c.n; q += 1 + c.n/priceSample {
		f.predict.predict(c, q, to)
		turn := 0.0
		for i := range to {
			if more := f.cost[i] - f.cost[cheap]; more > 0 {
				turn = max(turn, (to[i]-to[cheap])/more)
			}
		}
		turns = append(turns, turn)
	}
	slices.Sort(turns)
	slices.Reverse(turns)
	var prices []float64
	for i := range count {
		p := turns[i*len(turns)/count]
		if i == 0 {
			p *= 1 + 1e-9
		}
		if p > 0 && (len(prices) == 0 || p < prices[len(prices)-1]) {
			prices = append(prices, p)
		}
	}
	return prices
}

// Rules implements Fitted.
func (f *byPrice) Rules(t *Table) []Rule {
	c, n := f.encoder.encode(t), len(f.models)
	all := make([]float64, c.n*n)
	for q := range c.n {
		f.predict.predict(c, q, all[q*n:(q+1)*n])
	}
	var rules []Rule
	for _, price := range f.prices {
		rules = append(rules, Rule{Name: fmt.Sprintf("price %.3g", price), Knob: price, Calls: func(q int, to []int32) []int32 {
			score, best := all[q*n:(q+1)*n], 0
			for i := 1; i < n; i++ {
				now, then := score[i]-float64(price*f.cost[i]), score[best]-float64(price*f.cost[best])
				if now > then || now == then && f.cost[i] < f.cost[best] {
					best = i
				}
			}
			return append(to, f.models[best])
		}})
	}
	return rules
}
