package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui"
)

// breaking is the program with a kernel in which parts of the screen panic on
// demand: a screen in whose own code something is wrong.
func breaking() {
	if len(os.Args) > 1 {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	a := &app{stdin: os.Stdin, stdout: &outputWriter{w: os.Stdout}, stderr: os.Stderr}
	o := tui.Options{Keys: config.Default().Keys, FPS: 60, Mouse: true, Welcome: true}
	o.Theme, _ = tui.ThemeNamed("dark")
	if err := a.openFiles(&o, nil, config.StateFolder(os.Getenv), time.Hour); err != nil {
		panic(err)
	}
	var inUpdate atomic.Bool
	o.Now = func() time.Time {
		if inUpdate.Load() {
			panic("a mistake in Update")
		}
		return time.Now()
	}
	o.Start = func() (tui.Kernel, error) {
		p, err := a.startKernel(&a.kernel, nil)
		return broken{p, &inUpdate}, err
	}
	code, err := tui.Run(o)
	if err != nil {
		os.Stderr.WriteString("tpush: " + err.Error() + "\n")
	}
	os.Exit(code)
}

type broken struct {
	*kernel.Process
	inUpdate *atomic.Bool
}

// Execute panics where the cell says.
func (b broken) Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error) {
	switch {
	case strings.Contains(r.Code, "command"):
		panic("a mistake in a command")
	case strings.Contains(r.Code, "update"):
		b.inUpdate.Store(true)
	case strings.Contains(r.Code, "goroutine"):
		done := make(chan struct{})
		go func() {
			defer close(done)
			ev.Debug(json.RawMessage(`{"event":"stopped","body":{"threadId":1}}`))
		}()
		<-done
	}
	return b.Process.Execute(ctx, r, ev)
}

// Debug panics on a goroutine of ours.
func (b broken) Debug(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	panic("a mistake on a goroutine")
}
