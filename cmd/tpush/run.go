package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
)

// runFlags are the flags of run.
type runFlags struct {
	echo, json, keepGoing bool
	timeout               time.Duration
	trace, pprof, summary string
}

// An output file and the format that fills it.
type outputFile struct{ format, file string }

func (f *runFlags) outputs() []outputFile {
	var list []outputFile
	for _, o := range []outputFile{{"pprof", f.pprof}, {"perfetto", f.trace}, {"summary", f.summary}} {
		if o.file != "" {
			list = append(list, o)
		}
	}
	return list
}

func (a *app) runCommand() *cobra.Command {
	k, f := &kernelFlags{}, &runFlags{}
	cmd := &cobra.Command{
		Use: "run FILE|- [-- ARGS]", Short: "Run a .tpu file",
		Long: `Run a .tpu file, or cells from standard input when FILE is -.
Standard output carries only what the program prints; answers of commands and
errors go to standard error. The first error ends the run.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.fail("run: a file is wanted, or - for standard input")
			}
			nb, err := a.notebook(args[0])
			if err != nil {
				return a.fail("%v", err)
			}
			k.name = filepath.Base(args[0])
			if _, err := a.configured(k); err != nil {
				return a.fail("%v", err)
			}
			p, err := a.supervise(k, append([]string{args[0]}, args[1:]...))
			if err != nil {
				return a.fail("%v", err)
			}
			defer p.Stop()
			ctx, stop := a.context(f.timeout)
			defer stop()
			o := plain.Options{Stdout: a.stdout, Stderr: a.stderr, Echo: f.echo, JSON: f.json, KeepGoing: f.keepGoing, Color: a.colored()}
			if args[0] != "-" {
				o.Stdin = a.stdin
			}
			code := plain.Run(ctx, p, nb, o)
			if code != plain.ExitKernelDied {
				if c := a.export(p, f.outputs(), code == plain.ExitTimeout || code == plain.ExitInterrupted); code == plain.ExitOK {
					code = c
				}
			}
			if terminated(ctx) {
				code = plain.ExitTerminated
			}
			return exit(code)
		},
	}
	k.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.echo, "echo", false, "show cells and values on standard error, in In/Out form")
	cmd.Flags().BoolVar(&f.json, "json", false, "write every message of the kernel as a line of JSON on standard output")
	cmd.Flags().BoolVar(&f.keepGoing, "keep-going", false, "go on after a cell that failed; exit 1 at the end")
	cmd.Flags().Var((*limit)(&f.timeout), "timeout", "end the run after this time (exit 124)")
	cmd.Flags().StringVar(&f.trace, "trace", "", "write a Perfetto trace to `FILE`")
	cmd.Flags().StringVar(&f.pprof, "pprof", "", "write a pprof profile to `FILE`")
	cmd.Flags().StringVar(&f.summary, "summary", "", "write a JSON summary to `FILE`")
	return cmd
}

// exportLimit bounds the exports of a run that was stopped: an operation may
// still run that the kernel waits for.
const exportLimit = 3 * time.Second

// export asks the kernel to write the output files.
func (a *app) export(p kernel.Runner, files []outputFile, stopped bool) int {
	code := plain.ExitOK
	for _, o := range files {
		file, err := filepath.Abs(o.file)
		if err != nil || o.file == "-" {
			file = o.file
		}
		done := make(chan int, 1)
		go func() { done <- a.exportFile(p, o.format, file) }()
		var limit <-chan time.Time
		if stopped {
			limit = time.After(exportLimit)
		}
		select {
		case c := <-done:
			code = max(code, c)
		case <-limit:
			fmt.Fprintf(a.stderr, "tpush: %s: not written, an operation that was stopped still runs\n", o.format)
			return plain.ExitUsage
		}
	}
	return code
}

func (a *app) exportFile(p kernel.Runner, format, file string) (code int) {
	_, err := p.Execute(context.Background(), kernel.ExecuteRequest{Code: fmt.Sprintf(":export %s %s", format, file)}, kernel.Events{
		Error: func(e kernel.ErrorContent) {
			fmt.Fprintf(a.stderr, "tpush: %s: %s\n", format, e.Value)
			code = plain.ExitUsage
		},
		Stream: func(s kernel.StreamContent) { fmt.Fprint(a.stdout, s.Text) },
	})
	if err != nil {
		fmt.Fprintf(a.stderr, "tpush: %v\n", err)
		code = plain.ExitKernelDied
	}
	return code
}

// A fileError says that a file cannot be run.
type fileError struct {
	File string
	Err  error
}

// Error is FILE: reason.
func (e *fileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *fileError) Unwrap() error { return e.Err }

// maxFileBytes bounds a .tpu file; programs are text written by people.
const maxFileBytes = 64 << 20

// notebook reads and cuts a file; - is standard input.
func (a *app) notebook(file string) (*repl.Notebook, error) {
	src, err := a.read(file)
	if err != nil {
		return nil, err
	}
	for i, c := range src {
		if c == 0 {
			return nil, &fileError{file, fmt.Errorf("not text: byte 0 at offset %d", i)}
		}
	}
	if !utf8.Valid(src) {
		line := 1
		for i := 0; i < len(src); {
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 {
				return nil, &fileError{fmt.Sprintf("%s:%d", file, line), errors.New("not UTF-8 text")}
			}
			if r == '\n' {
				line++
			}
			i += n
		}
	}
	return repl.ParseNotebook(file, src), nil
}

func (a *app) read(file string) ([]byte, error) {
	r := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, &fileError{file, cause(err)}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, &fileError{file, errors.New("is a directory")}
		}
		r = f
	}
	src, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, &fileError{file, cause(err)}
	}
	if len(src) > maxFileBytes {
		return nil, &fileError{file, fmt.Errorf("larger than %d bytes", maxFileBytes)}
	}
	return src, nil
}

// cause strips the operation and the path that *fs.PathError repeats.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// startKernel starts a kernel process with these flags.
func (a *app) startKernel(k *kernelFlags, args []string) (*kernel.Process, error) {
	if _, err := k.options(nil); err != nil { // say it here rather than in a dying child
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := kernel.Start(self, append(append(k.args(), "--"), args...)...)
	if err != nil || k.device == "" || k.device == repl.Simulator {
		return p, err
	}
	// A device behind a plug-in may not open: its kernel says why and ends at once.
	if _, err := p.Info(context.Background()); err != nil {
		return nil, &deviceError{k.device, err}
	}
	return p, nil
}

// A deviceError is a kernel that ended because its device did not open.
type deviceError struct {
	device string
	err    error
}

// Error is what the kernel said last.
func (e *deviceError) Error() string {
	why := e.err.Error()
	var died *kernel.DiedError
	if errors.As(e.err, &died) {
		if words := died.Words(1); len(words) > 0 {
			why = strings.TrimPrefix(words[0], "tpush: ")
		}
	}
	return "device " + e.device + ": " + why
}

// Unwrap gives how the kernel ended.
func (e *deviceError) Unwrap() error { return e.err }

// ExitCode is that of a device that cannot be used.
func (*deviceError) ExitCode() int { return plain.ExitDevice }

// supervise starts a kernel process that can be replaced by another one.
func (a *app) supervise(k *kernelFlags, args []string) (*kernel.Supervisor, error) {
	flags := *k
	return kernel.Supervise(func() (*kernel.Process, error) { return a.startKernel(&flags, args) })
}

// errTerminated is the cause of a context that SIGTERM ended.
var errTerminated = errors.New("terminated")

func terminated(ctx context.Context) bool { return context.Cause(ctx) == errTerminated }

// context ends after the timeout (0: never), on Ctrl-C and on SIGTERM. A
// second signal ends the process at once.
func (a *app) context(timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	done := func() {}
	if timeout > 0 {
		var c context.CancelFunc
		ctx, c = context.WithTimeout(ctx, timeout)
		done = c
	}
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	go func() {
		s, ok := <-sig
		if !ok {
			return
		}
		if s == syscall.SIGTERM {
			cancel(errTerminated)
		} else {
			cancel(context.Canceled)
		}
		signal.Stop(sig)
	}()
	return ctx, func() {
		signal.Stop(sig)
		done()
		cancel(nil)
	}
}

// colored says whether standard error takes colour.
func (a *app) colored() bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && isTerminal(a.stderr)
}

// isTerminal says whether w is a terminal that is not dumb.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

// version is what the build knows of itself.
func version() string {
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" {
		return bi.Main.Version
	}
	return "(devel)"
}
