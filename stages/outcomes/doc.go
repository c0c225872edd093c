// Package outcomes reads recorded outcomes, imported as they are published:
// which model answered which question how well and at what cost, or which
// allocation of models to the modules of a compound system did.
//
// The steps, in order:
//
//  1. Open takes a file, or a folder whose files are joined; Read takes a
//     reader. Gzip is told by its magic bytes. CSV and Parquet become rows of
//     cells, so that each tabular format is read from either; JSON documents
//     and lines are decoded record after record.
//  2. The format is given, or told by the header's names (by the keys of the
//     first record). See Formats.
//  3. A question-level format becomes a cascade.Table, a module-level one
//     compound.Outcomes, or compound.Averages where only means are recorded. Texts (prompts, answers) are read for their lengths alone and
//     not kept, so that 30,000 prompts of 11 models take some 5 MB.
//
// What cannot be understood ends the reading with a *trace.Error that holds
// file, line or row, field, what was expected, and the nearest name. A question
// that lacks a score or a cost of some model is left out; Outcomes.Notes says
// how many. Scores are 0 to 1, True and False, or percents where the format
// says so; costs are dollars.
//
//	o, err := outcomes.Open("routerbench_0shot.parquet", outcomes.Source{})
//	train, test := o.Questions.Split(0.5, rng.New(1, 1, "split"))
package outcomes
