package queueing

// BallsRow is a row of table `balls`: one replication of throwing balls into
// bins. The distribution of the maximum is the count of its values over
// replications.
type BallsRow struct {
	Cell          int32             `parquet:"cell,delta" doc:"position of the cell in the grid of section balls, replication fastest; sort order"`
	CellKey       string            `parquet:"cell_key" doc:"sha256 over seed, replication, parameters and stage version, without names and defaults"`
	Config        int32             `parquet:"config,delta" doc:"position of the configuration (the cell without its replication) in that grid"`
	Seed          int64             `parquet:"seed,delta" doc:"the experiment's seed"`
	Replication   int32             `parquet:"replication,delta" doc:"replication index; with the seed it names the random stream"`
	Workload      string            `parquet:"workload,dict" doc:"name of the variant of section balls"`
	WorkloadPoint string            `parquet:"workload_point,dict" doc:"that variant with its swept values"`
	Factors       map[string]string `parquet:"factors" doc:"every swept value of the experiment file, by factor name"`

	Bins        int64 `parquet:"bins,delta" symbol:"n" doc:"bins"`
	Balls       int64 `parquet:"balls,delta" symbol:"m" doc:"balls"`
	Choices     int32 `parquet:"choices,delta" symbol:"d" doc:"bins drawn for each ball, which goes to the least full one"`
	Replacement bool  `parquet:"replacement" doc:"a bin may be drawn twice for one ball"`

	Maximum    int32    `parquet:"maximum,delta" better:"lower" doc:"most balls in a bin"`
	Growth     *float64 `parquet:"growth_law" better:"none" doc:"ln n / ln ln n at one choice, ln ln n / ln d at more: how the maximum grows with n where m = n, up to a factor or a constant; not a value to expect. NULL where m is not n, or n below 16"`
	EmptyShare float64  `parquet:"empty_share" better:"none" theory:"theory_empty_share" doc:"share of the bins that stay empty"`
	Theory     string   `parquet:"theory,dict" doc:"where theory_empty_share comes from"`
	TheoryKind string   `parquet:"theory_kind,dict" doc:"exact, or mean-field: the limit of many bins"`
	Expected   float64  `parquet:"theory_empty_share" doc:"share of the bins that stay empty in theory"`
	Loads      []int64  `parquet:"loads" doc:"number of bins with 0, 1, 2, ... balls, up to the maximum"`
}

// Place makes the row the cell at that position of the grid.
func (r *BallsRow) Place(index int32) { r.Cell = index }
