// Package house polices the tree: its tests read the source of every package
// and fail where a rule of the house is broken.
//
// The rules, one file of tests each:
//
//   - layers_test.go: imports run pipeline -> stages -> sim and never back;
//     sim is pure (no files, no clock, no log, no goroutines, no global
//     randomness); what may be imported where.
//   - tree_test.go: names at the top of the tree, a doc for every package, the
//     length of files, words that have no place in the source.
//   - bite_test.go: every rule, shown to bite on an example that breaks it.
//
// A rule that makes the code worse is changed here, with its reason, rather
// than worked around there.
package house
