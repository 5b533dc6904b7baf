// Package stdpipe keeps the standard pipes of a child process for its protocol.
//
// It reads and writes nothing itself and imports nothing of this module.
// Invariant: after Claim no other code of the process can reach the pipes.
package stdpipe
