package choose

// RoundRow is a row of table `rounds`: one decision of a run.
type RoundRow struct {
	Where
	Start int32 `parquet:"start,delta" doc:"start within the pool, as in table selections"`
	Round int32 `parquet:"round,delta" symbol:"i" doc:"round, from 1"`

	Module      *string   `parquet:"module,dict" doc:"the module whose candidates are compared; NULL where whole assignments are"`
	Votes       []int32   `parquet:"votes" unit:"questions" doc:"by candidate of the module: questions that approve of it; empty where the rule does not vote"`
	Values      []float64 `parquet:"values" unit:"share" doc:"by candidate, or by assignment: accuracy on the training questions, less its penalty for cost"`
	Incumbent   *string   `parquet:"incumbent,dict" doc:"the module's candidate before; NULL where whole assignments are compared"`
	Winner      *string   `parquet:"winner,dict" doc:"the module's candidate after"`
	Tied        int32     `parquet:"tied,delta" doc:"candidates that share the highest count or value"`
	Evaluations int32     `parquet:"evaluations,delta" unit:"evaluations" doc:"evaluations up to and with this round"`
	Candidates  []int32   `parquet:"candidates" doc:"the assignment after the round, as candidates' numbers from 0"`
}

// Place makes the row one of the cell at that position of the grid.
func (r *RoundRow) Place(index int32) { r.Cell = index }
