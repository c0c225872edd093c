package choose

// ParetoRow is a row of table `pareto`: a point of quality and cost that a rule
// offers. Intervals are over questions.
type ParetoRow struct {
	Where
	Kind  string `parquet:"kind,dict" doc:"what offers it: assignment, cascade, router or oracle"`
	Point int32  `parquet:"point,delta" doc:"number within the rule's points, from 0, by cost on the questions it was found on"`
	Label string `parquet:"label" doc:"the assignment, or the rule's thresholds"`

	CostTrain     float64  `parquet:"cost_train" unit:"$" doc:"mean cost of a training question"`
	CostTest      float64  `parquet:"cost_test" unit:"$" doc:"mean cost of a test question; of a training question where there are no others"`
	AccuracyTrain float64  `parquet:"accuracy_train" unit:"share" doc:"mean score on the training questions"`
	AccuracyTest  float64  `parquet:"accuracy_test" unit:"share" doc:"mean score on the test questions; on the training questions where there are no others"`
	Lo            *float64 `parquet:"accuracy_test_lo" unit:"share" doc:"lower end of its 95 % interval over questions (Wilson); NULL where the world does not say how many there are"`
	Hi            *float64 `parquet:"accuracy_test_hi" unit:"share" doc:"upper end of that interval"`
	Front         bool     `parquet:"on_front" doc:"no point of the rule costs less on the test questions at the same score, or scores more at the same cost"`
}

// Place makes the row one of the cell at that position of the grid.
func (r *ParetoRow) Place(index int32) { r.Cell = index }
