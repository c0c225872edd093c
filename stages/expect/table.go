package expect

import "switchyard/stages/table"

// Row is a row of table `expectations`.
type Row struct {
	Position       int32    `parquet:"position,delta" doc:"of the expectation in the experiment file, from 0; the sort order"`
	Name           string   `parquet:"name,plain" doc:"name of the expectation"`
	Published      string   `parquet:"published,plain" doc:"where the figure stands, or who wants it"`
	PublishedValue *float64 `parquet:"published_value" doc:"the published figure; NULL where only a direction is published, and for an order"`
	Ours           *float64 `parquet:"ours" doc:"what the SQL computes from this experiment's tables; NULL for an order, and where there is nothing"`
	Lo             *float64 `parquet:"lo" doc:"lower end of its 95 % interval; NULL where the SQL has none"`
	Hi             *float64 `parquet:"hi" doc:"upper end of that interval"`
	Found          string   `parquet:"found,plain" doc:"the rows of an order, with their values; the column that is the bound, with its value; else empty"`
	Relation       string   `parquet:"relation,plain" doc:"what was expected; empty where nothing can be"`
	Verdict        string   `parquet:"verdict,dict" doc:"agrees, differs or cannot be judged"`
	Note           string   `parquet:"note,plain" doc:"why the verdict is that, where it does not follow from the numbers"`
	Reason         string   `parquet:"reason,plain" doc:"why this relation and tolerance"`
	FixedRequests  bool     `parquet:"fixed_requests" doc:"saturated configurations are judged too, at this number of requests"`
	SQL            string   `parquet:"sql,plain" doc:"the query that computes ours"`
}

// Table holds one row an expectation.
var Table = table.New[Row]("expectations", "what the experiment's file expects of its results, with the verdict")

// Tables returns the tables that this stage writes.
func Tables() []table.Definition { return []table.Definition{Table} }
