// Package table keeps the results of an experiment as Parquet tables.
//
// A table is one Go struct, whose fields are the columns:
//
//	type Row struct {
//		Cell   int32    `parquet:"cell,dict" doc:"position in the grid"`
//		WaitUs int64    `parquet:"wait_us,delta" unit:"us" symbol:"W" doc:"mean time in the queue"`
//		TpotUs *float64 `parquet:"tpot_us" unit:"us" doc:"NULL if no request has two output tokens"`
//	}
//
//	func (r *Row) Place(index int32) { r.Cell = index }
//
//	var Cells = table.New[Row]("cells", "One row a run.")
//
// The parquet tag holds the column's name and its encoding: dict for texts and
// numbers of few values, delta for other integers, nothing for floats and
// lists. doc is required, unit and symbol are shown where they are given; all
// of them go into the data dictionary (WriteDictionary), into the comments of
// the views (WriteViews) and into datapackage.json (WriteDataPackage). A column
// is nullable if its field is a pointer, and never otherwise. Simulated time is
// an integer of microseconds and no timestamp.
//
// # From rows to tables
//
// While an experiment runs, its folder changes in this order:
//
//  1. A worker that finishes a task appends the task's rows, under the task's
//     key, to its open part of each table (PartWriter). Parts are
//     parts/<table>-<worker>-<seq>.parquet; one holds many tasks, because
//     thousands of small files take DuckDB seconds where one takes
//     milliseconds.
//  2. Closing a part makes it durable: written under a temporary name, synced,
//     renamed, the folder synced. From then on its tasks need not run again.
//  3. At the end Compact merges the finished table and the parts into
//     <table>/part-0000.parquet, part-0001.parquet, ...: tasks in the order of
//     the experiment, row groups of 122,880 rows, a new file after the task
//     that fills 256 MB. A task never spans two files.
//  4. WriteViews and WriteDataPackage describe what there is.
//
// A run that is killed anywhere starts anew with OpenParts, which brings the
// folder into order and returns the keys of the tasks that are on disk. Small
// tables that a stage computes as a whole are written by Write instead.
//
// # What holds
//
//   - Nothing is half there: a part, and a finished table however many files it
//     has, is on disk in full or not at all, after a kill as after a power cut
//     (the journal is described at journalName).
//   - Nothing is lost silently: files carry checksums of their pages and of
//     their list of tasks; a damaged one is moved aside with a report and its
//     tasks are missing, so that they run again; a reader that comes to fewer
//     rows than the footer says fails.
//   - Equal rows are equal bytes, however many workers, parts and interruptions
//     there were: compaction encodes in batches of 8,192 rows from the start of
//     each file, map entries are sorted, and footers name the experiment, the
//     schema ("cells/v1"), the tool and the tasks, but no commit, host or time.
//   - Memory does not grow with a table, apart from its list of tasks.
//
// # Formats and their traps
//
// Files are written and read by parquet-go, zstd-compressed, data pages of
// version 2. BYTE_STREAM_SPLIT (tag split) is refused because arrow v17 reads
// it as an empty table; the option optional is refused because it turns zeros
// into NULL. A list is a repeated column without a LIST group; DuckDB and arrow
// read it as a list, NULL and the empty list are one value in it. A
// map[string]string is a MAP(VARCHAR, VARCHAR). NaN in floats is kept, and
// DuckDB holds it greater than any number: filter with isfinite.
package table
