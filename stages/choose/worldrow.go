package choose

// Setting says which system and world a row is about, without an optimiser.
type Setting struct {
	Setting     int32             `parquet:"setting,delta" doc:"position in the grid of systems x worlds, replication fastest; sort order"`
	SettingKey  string            `parquet:"setting_key,dict" doc:"sha256 over seed, replication, system, world and stage version, without names and defaults"`
	Seed        int64             `parquet:"seed,delta" doc:"the experiment's seed"`
	Replication int32             `parquet:"replication,delta" doc:"replication index; with the seed it names the random streams"`
	Pool        int32             `parquet:"pool,delta" doc:"pool of candidates within the replication, from 1, as in table selections"`
	System      string            `parquet:"system,dict" doc:"name of the system variant"`
	World       string            `parquet:"world,dict" doc:"name of the world variant"`
	SystemPoint string            `parquet:"system_point,dict" doc:"system with its swept values"`
	WorldPoint  string            `parquet:"world_point,dict" doc:"world with its swept values"`
	Factors     map[string]string `parquet:"factors" doc:"every swept value of the experiment file in system and world, by factor name"`
}

// WorldRow is a row of table `worlds`: the facts of one pool in one system.
type WorldRow struct {
	Setting
	Modules    []string `parquet:"modules" symbol:"L" doc:"modules that are decisions, in the order of the graph"`
	Candidates []int32  `parquet:"candidates" symbol:"K" doc:"candidates of each of them"`
	Space      int64    `parquet:"space,delta" symbol:"K^L" doc:"assignments that there are; the greatest number that the column holds where there are more"`
	Train      int32    `parquet:"train_questions,delta" unit:"questions" doc:"questions to choose on"`
	Test       int32    `parquet:"test_questions,delta" unit:"questions" doc:"questions that judge the choice; 0 where there are none"`

	Single       *string  `parquet:"best_single,dict" doc:"the best single model, chosen on the training questions; NULL where no model can serve all modules"`
	SingleTrain  *float64 `parquet:"best_single_train" unit:"share" doc:"its mean score on the training questions"`
	SingleTest   *float64 `parquet:"best_single_test" unit:"share" doc:"its mean score on the test questions"`
	Optimum      *string  `parquet:"optimum" doc:"the best assignment by the training questions, the first of equals; NULL where the space is too large to know"`
	OptimumTrain *float64 `parquet:"optimum_train" unit:"share" doc:"its mean score on the training questions"`
	OptimumTest  *float64 `parquet:"optimum_test" unit:"share" doc:"its mean score on the test questions"`
	OptimumTied  *int64   `parquet:"optimum_tied" doc:"assignments that share its score on the training questions"`
	OptimumKinds *int32   `parquet:"optimum_models" doc:"different models in the optimum"`
	OracleTrain  *float64 `parquet:"oracle_train" unit:"share" doc:"mean over training questions of the best score that any assignment has: the bound for choosing anew for each question"`
	OracleTest   *float64 `parquet:"oracle_test" unit:"share" doc:"the same on the test questions"`

	Within    *float64 `parquet:"within_violations" unit:"share" doc:"share of the cases against within-module monotonicity: the candidate that does a module's part better in one context does it worse in another; NULL where modules are not judged by themselves"`
	WithinLo  *float64 `parquet:"within_lo" unit:"share" doc:"lower end of its 95 % interval, over questions and, where contexts are drawn, over these"`
	WithinHi  *float64 `parquet:"within_hi" unit:"share" doc:"upper end of that interval"`
	Between   *float64 `parquet:"between_violations" unit:"share" doc:"share of the cases against between-module monotonicity: a module that does its part better makes the answer worse; NULL where modules are not judged by themselves"`
	BetweenLo *float64 `parquet:"between_lo" unit:"share" doc:"lower end of its 95 % interval"`
	BetweenHi *float64 `parquet:"between_hi" unit:"share" doc:"upper end of that interval"`
	Reversed  *float64 `parquet:"reversed" unit:"share" doc:"as within_violations, of the cases in which the two candidates differ in both contexts"`
	Answers   *float64 `parquet:"answers_reversed" unit:"share" doc:"share of the cases in which two candidates of a module change places, by the answer to a question, from one context to another; what refutes both assumptions together where only scores are known; NULL where only accuracies are"`
	AnswersLo *float64 `parquet:"answers_lo" unit:"share" doc:"lower end of its 95 % interval"`
	AnswersHi *float64 `parquet:"answers_hi" unit:"share" doc:"upper end of that interval"`
	Ranking   *float64 `parquet:"ranking_reversed" unit:"share" doc:"the same by accuracy over all training questions"`
	Contexts  string   `parquet:"contexts,dict" doc:"which contexts (the candidates of all modules but one) were compared: all, drawn, or none"`
	Warnings  []string `parquet:"warnings" doc:"doubts about this row"`
}

// Place makes the row one of the setting at that position of the grid.
func (r *WorldRow) Place(index int32) { r.Setting.Setting = index }

// PoolRow is a row of table `pools`: what a candidate can do at a module.
type PoolRow struct {
	Setting
	Module    string   `parquet:"module,dict" doc:"module with a language model"`
	Skill     string   `parquet:"skill,dict" doc:"what is asked of the model there; modules with the same skill share abilities"`
	Candidate string   `parquet:"candidate,dict" doc:"the model, with its prompt where there are several"`
	Ability   *float64 `parquet:"ability" unit:"share" doc:"chance that it succeeds at the skill on a question drawn at random; NULL where the questions are fixed or recorded"`
	Train     *float64 `parquet:"success_train" unit:"share" doc:"share of the training questions on which it succeeds; NULL where modules are not judged by themselves"`
	Test      *float64 `parquet:"success_test" unit:"share" doc:"the same of the test questions"`
	Cost      *float64 `parquet:"cost_question" unit:"$" doc:"what it costs a question at that module; NULL where nothing has a price, or only whole assignments have"`
}

// Place makes the row one of the setting at that position of the grid.
func (r *PoolRow) Place(index int32) { r.Setting.Setting = index }

// AssignmentRow is a row of table `assignments`: one assignment of a space that
// is kept whole. It is narrow, since there may be millions.
type AssignmentRow struct {
	Setting       int32   `parquet:"setting,delta" doc:"position in the grid of systems x worlds, replication fastest, as in table worlds; sort order, with pool and assignment"`
	Replication   int32   `parquet:"replication,delta" doc:"replication index"`
	Pool          int32   `parquet:"pool,delta" doc:"pool within the replication, from 1"`
	Assignment    int64   `parquet:"assignment,delta" doc:"number of the assignment from 0: the last module's candidate advances fastest, so that of K candidates each module m of L (from 0) has candidate assignment // K^(L-1-m) % K"`
	AccuracyTrain float64 `parquet:"accuracy_train,dict" unit:"share" doc:"mean score on the training questions"`
	AccuracyTest  float64 `parquet:"accuracy_test,dict" unit:"share" doc:"mean score on the test questions; on the training questions where there are no others"`
	Cost          float64 `parquet:"cost_question,dict" unit:"$" doc:"mean cost of a question; 0 where nothing has a price"`
}
