package interp

import (
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"time"
)

// replace gives a package's symbols that would leave the session their own:
// the streams, the log, the end of the process, sleeping.
func (in *Interp) replace(path string, m map[string]reflect.Value) {
	set := func(name string, v any) { m[name] = reflect.ValueOf(v) }
	stdin := in.opt.Stdin
	if stdin == nil {
		stdin = eof{}
	}
	switch path {
	case "fmt":
		in.replaceFmt(set)
		set("Scan", func(a ...any) (int, error) { return fmt.Fscan(stdin, a...) })
		set("Scanf", func(f string, a ...any) (int, error) { return fmt.Fscanf(stdin, f, a...) })
		set("Scanln", func(a ...any) (int, error) { return fmt.Fscanln(stdin, a...) })
	case "os":
		set("Exit", in.exit)
		args := in.opt.Args
		m["Args"] = reflect.ValueOf(&args).Elem()
		for name, stream := range map[string]any{"Stdin": in.opt.Stdin, "Stdout": in.opt.Stdout, "Stderr": in.opt.Stderr} {
			if f, ok := stream.(*os.File); ok {
				m[name] = reflect.ValueOf(&f).Elem()
			}
		}
	case "log":
		in.replaceLog(set)
	case "log/slog": // its default logger writes through package log's
		log.SetOutput(in.stderr())
	case "flag":
		in.replaceFlag(m)
	case "errors":
		set("Is", in.registry.errorsIs)
		set("As", in.registry.errorsAs)
		set("Unwrap", in.registry.errorsUnwrap)
	case "reflect":
		in.machine.replaceReflect(m)
	case "time":
		set("Sleep", in.sleep)
	}
}

// stderr is where cells write their mistakes.
func (in *Interp) stderr() io.Writer {
	if in.opt.Stderr == nil {
		return io.Discard
	}
	return in.opt.Stderr
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// exit ends the cell, not the process.
func (in *Interp) exit(code int) {
	s := in.stacks.current()
	if s == nil {
		os.Exit(code) // not called from a cell
	}
	s.end(&ExitError{Code: code, Stack: s.look()})
}

// sleep is time.Sleep that an interrupt ends.
func (in *Interp) sleep(d time.Duration) {
	s := in.stacks.current()
	if s == nil {
		time.Sleep(d)
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	left := s.lie()
	defer s.back(left)
	select {
	case <-t.C:
	case <-s.run.stop:
		s.interrupted()
	}
}
