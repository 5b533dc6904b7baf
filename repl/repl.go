// Package repl is a session: it runs cells, keeps their sources and results,
// and answers for what went wrong.
//
// It knows no screen, no protocol and no interpreter: an Evaluator runs Go for
// it. It imports trace, viz, exec, tpu and inspect. Invariant: a cell that
// fails leaves the session usable, with everything that ran before it.
package repl
