// Package store keeps what a user made on disk: notebooks, their outputs,
// autosaves, and the history of cells.
//
// It knows no session and no screen. It imports nothing of this module.
// Invariant: a file is either what it was or what was written, whole; a crash
// at any moment loses at most what came after the last autosave.
package store
