// Package dap speaks the Debug Adapter Protocol: a server that launches a .tpu
// file cell by cell through a kernel and relays what is asked about it, and the
// adapter inside the kernel that answers from the debugger.
//
// It decides nothing about breakpoints or steps: repl/debug does. It imports
// repl, repl/plain, repl/kernel, repl/debug, repl/command and inspect.
// Invariant: every request gets exactly one response, whatever it holds.
package dap
