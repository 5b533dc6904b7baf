// Package tui is the notebook on a terminal: cells, an editor, completion, help,
// panels and the debugger on one screen.
//
// It runs no cell and reads no file in Update or View: it is a client of a
// kernel, and everything that waits is a command of Bubble Tea. It is the only
// package that imports Bubble Tea; it imports repl/kernel, repl/tui/edit,
// repl/tui/glyph and viz. Invariant: View gives exactly as many rows as the
// terminal has, each exactly as wide, whatever the size and the text.
package tui
