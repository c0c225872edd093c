// Package run executes the tasks of a job on all cores and leaves finished
// tables behind.
//
// A Job is a list of tasks, each of which writes rows into some of the job's
// tables under the task's key. Execute
//
//  1. locks the folder, so that two runs cannot interleave;
//  2. opens what an earlier run left: a task whose key stands in all its
//     tables, in a finished table or in a part, is done and is not run again;
//  3. runs the rest, the groups in order, the heaviest task of a group first;
//     a group's shared input is opened once, by the first worker that needs
//     it, and dropped after the group's last task, so at most as many inputs
//     as workers are in memory;
//  4. collects the rows of finished tasks in one part file a worker and table,
//     and commits them every half minute, every 64 MB and at the end;
//  5. compacts every table: the rows of the job's tasks sorted by the tasks'
//     indexes, which makes the bytes a function of the job alone;
//  6. writes the tasks that failed into table `failures`.
//
// # What survives what
//
// A task's rows reach the part files after the task has returned without an
// error, all of them or none. A commit closes a worker's parts (temporary
// file, fsync, rename) one after the other, always in the same order, under a
// number that no earlier commit had. A kill between two of them, or a part
// that is lost or corrupt later, leaves keys that do not stand in all their
// tables: their tasks run again, and compaction takes the copy with the
// highest number. Because a task counts as done only from the last part of its
// commit on, kills leave no mixture of two executions even of a task whose
// results vary.
//
// A write that fails, for one on a full disk, stops the run with an error that
// wraps ErrStorage; what was committed stays. A task that fails, or panics,
// costs only itself: it is tried again by the next run, and its row in
// `failures` goes when it succeeds. The first interrupt lets the tasks in
// flight end, commits their rows and compacts what is done, so that the tables
// can be looked at before the run goes on; the second gives up at once, and
// leaves what is committed in the parts.
//
// Keys that are on disk but not among the job's (30 replications before, 5
// now) leave the finished tables and stay in the folder of parts, so that the
// tables are those of the job asked for and a later run with more
// replications finds its results again.
//
// # Example
//
//	squares := table.New[Square]("squares", "squares of small numbers")
//	job := run.Job{Name: "square", Tables: []table.Definition{squares}}
//	for i := range 100 {
//		job.Tasks = append(job.Tasks, run.Task{
//			Key: fmt.Sprint("square/", i), Index: int32(i), Name: fmt.Sprint(i),
//			Tables: []string{"squares"},
//			Run: func(ctx context.Context, shared, worker any, out *run.Sink) error {
//				out.Write(squares.Rows([]Square{{Index: int32(i), Value: int64(i * i)}}))
//				return nil
//			},
//		})
//	}
//	report, err := run.Execute(ctx, job, run.Options{Dir: "out/squares"})
//	os.Exit(run.ExitCode(err, report))
package run
