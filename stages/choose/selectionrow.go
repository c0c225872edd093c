package choose

// Where says which cell a row is about. The columns from cell_key on are a
// function of the cell alone.
type Where struct {
	Cell           int32             `parquet:"cell,delta" doc:"position of the cell in the grid of systems x worlds x optimisers, replication fastest; sort order"`
	CellKey        string            `parquet:"cell_key,dict" doc:"sha256 over seed, replication, system, world, optimiser and stage version, without names and defaults"`
	Config         int32             `parquet:"config,delta" doc:"position of the configuration (the cell without its replication) in that grid"`
	Seed           int64             `parquet:"seed,delta" doc:"the experiment's seed"`
	Replication    int32             `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Pool           int32             `parquet:"pool,delta" doc:"pool of candidates within the replication, from 1; an independent sample of models and questions in a toy world"`
	System         string            `parquet:"system,dict" doc:"name of the system variant"`
	World          string            `parquet:"world,dict" doc:"name of the world variant: who answers"`
	Optimiser      string            `parquet:"optimiser,dict" doc:"name of the optimiser variant"`
	SystemPoint    string            `parquet:"system_point,dict" doc:"system with its swept values"`
	WorldPoint     string            `parquet:"world_point,dict" doc:"world with its swept values"`
	OptimiserPoint string            `parquet:"optimiser_point,dict" doc:"optimiser with its swept values: what is compared"`
	Factors        map[string]string `parquet:"factors" doc:"every swept value of the experiment file, by factor name"`
}

// SelectionRow is a row of table `selections`: one run of an optimiser, on one
// pool of candidates from one start. Columns with the tag better are metrics,
// which aggregate averages over starts and pools and compares.
type SelectionRow struct {
	Where
	Start int32 `parquet:"start,delta" doc:"start within the pool, from 1; the same for all optimisers. 0: the optimiser takes no start"`

	Rule       string `parquet:"rule,dict" doc:"optimiser of the variant"`
	Parameters string `parquet:"parameters,dict" doc:"the optimiser's parameters that are not at their default"`
	Modules    int32  `parquet:"modules,delta" symbol:"L" doc:"modules that are decisions, those with a language model"`
	Space      int64  `parquet:"space,delta" symbol:"K^L" doc:"assignments that there are; the greatest number that the column holds where there are more"`
	Train      int32  `parquet:"train_questions,delta" unit:"questions" symbol:"n" doc:"questions that the optimiser sees"`
	Test       int32  `parquet:"test_questions,delta" unit:"questions" doc:"questions that judge what it chose; 0 where the world has none: accuracy_test is then that of the training questions"`
	From       string `parquet:"start_assignment,dict" doc:"where it starts; empty where it takes no start"`

	Assignment string  `parquet:"assignment,dict" doc:"what it chose: module=candidate, in the order of the graph"`
	Candidates []int32 `parquet:"candidates" doc:"the same as candidates' numbers, from 0; empty for rules that choose a model for each question"`
	Models     int32   `parquet:"distinct_models,delta" better:"none" doc:"different models in the assignment"`

	AccuracyTrain float64  `parquet:"accuracy_train" unit:"share" better:"higher" doc:"mean score on the training questions"`
	AccuracyTest  float64  `parquet:"accuracy_test" unit:"share" better:"higher" doc:"mean score on the test questions"`
	Gain          *float64 `parquet:"gain_points" unit:"points" better:"higher" doc:"100 x (accuracy_test - best_single_test); NULL where no model can serve all modules"`
	Regret        *float64 `parquet:"regret_points" unit:"points" better:"lower" doc:"100 x (optimum_test - accuracy_test); NULL where the optimum is not known. Negative where another assignment is better on the test questions alone"`
	Ahead         *bool    `parquet:"beats_single" better:"none" doc:"more accurate on the training questions than the best single model; its mean is the share of runs"`
	AtOptimum     *bool    `parquet:"at_optimum" better:"none" doc:"as accurate on the training questions as the optimum; its mean is the share of runs"`

	Evaluations  int32    `parquet:"evaluations,delta" unit:"evaluations" better:"lower" doc:"assignments evaluated with those that confirm the choice: all candidates of every round; one evaluation is one assignment on all training questions"`
	FirstHit     int32    `parquet:"evaluations_first_hit,delta" unit:"evaluations" better:"lower" doc:"those up to the round in which the chosen assignment first stood, as the paper counts"`
	CodeBudget   int32    `parquet:"evaluations_code,delta" unit:"evaluations" better:"lower" doc:"as LLMSelector's released code counts: K - 1 a round, the incumbent being paid already"`
	Distinct     int32    `parquet:"evaluations_distinct,delta" unit:"evaluations" better:"lower" doc:"different assignments evaluated: what a cache of answers leaves to pay"`
	Diagnoses    int64    `parquet:"diagnoses,delta" unit:"calls" better:"lower" doc:"verdicts asked of the diagnoser"`
	Cost         *float64 `parquet:"cost_question" unit:"$" better:"lower" doc:"mean cost of a question under the chosen assignment; NULL where nothing has a price"`
	Latency      *float64 `parquet:"latency_s" unit:"s" better:"lower" doc:"mean latency of a question under the chosen assignment; NULL where the world does not say"`
	SelectCost   *float64 `parquet:"cost_selection" unit:"$" better:"lower" doc:"cost of the selection itself with a cache of answers"`
	SelectUncach *float64 `parquet:"cost_selection_uncached" unit:"$" better:"lower" doc:"cost of the selection when every evaluation is paid anew"`

	Converged bool   `parquet:"converged" better:"none" doc:"it ended by its own rule and not by a budget or a cap; its mean is the share of runs"`
	Stop      string `parquet:"stop,dict" doc:"why it ended: converged, complete, budget, rounds (its cap) or patience"`
	Rounds    int32  `parquet:"rounds,delta" better:"lower" doc:"decisions that it made"`

	Single       *string  `parquet:"best_single,dict" doc:"the best single model, chosen on the training questions; NULL where no model can serve all modules"`
	SingleTrain  *float64 `parquet:"best_single_train" unit:"share" doc:"its mean score on the training questions"`
	SingleTest   *float64 `parquet:"best_single_test" unit:"share" better:"none" doc:"its mean score on the test questions"`
	Optimum      *string  `parquet:"optimum,dict" doc:"the best assignment by the training questions, the first of equals; NULL where the space is too large to know"`
	OptimumTrain *float64 `parquet:"optimum_train" unit:"share" doc:"its mean score on the training questions"`
	OptimumTest  *float64 `parquet:"optimum_test" unit:"share" better:"none" doc:"its mean score on the test questions"`

	AIQ      *float64 `parquet:"aiq" unit:"share" better:"higher" doc:"for rules with a curve of quality over cost: the area under its non-decreasing convex hull over the width of the costs (RouterBench's AIQ), on the test questions; NULL for others"`
	Warnings []string `parquet:"warnings" doc:"doubts about this row"`
}

// Place makes the row one of the cell at that position of the grid.
func (r *SelectionRow) Place(index int32) { r.Cell = index }

// WithoutTexts drops the lists, for those who keep many rows.
func (r *SelectionRow) WithoutTexts() {
	r.Candidates, r.Parameters, r.From, r.Assignment, r.Single, r.Optimum = nil, "", "", "", nil, nil
}
