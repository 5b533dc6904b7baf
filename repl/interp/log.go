package interp

import (
	"fmt"
	"io"
	"log"
	"runtime"
	"strings"
)

// A fatalWriter writes for a logger. Fatal would end the process after it has
// written: it ends the cell before.
type fatalWriter struct {
	w  io.Writer
	in *Interp
}

// Write passes b on.
func (f fatalWriter) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if fatal() {
		f.in.exit(1)
	}
	return n, err
}

// fatal tells whether a Fatal method of a logger is among the callers.
func fatal() bool {
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "log.(*Logger).Fatal") {
			return true
		}
		if !more {
			return false
		}
	}
}

// replaceLog gives package log's functions on a logger of the session: it
// writes to the cells' standard error, and Fatal ends the run, not the process.
func (in *Interp) replaceLog(set func(name string, f any)) {
	w := in.stderr()
	l := log.New(fatalWriter{w, in}, "", log.LstdFlags)
	set("New", func(w io.Writer, prefix string, flag int) *log.Logger {
		return log.New(fatalWriter{w, in}, prefix, flag)
	})
	set("Default", func() *log.Logger { return l })
	set("Print", l.Print)
	set("Printf", l.Printf)
	set("Println", l.Println)
	set("Panic", l.Panic)
	set("Panicf", l.Panicf)
	set("Panicln", l.Panicln)
	set("Output", l.Output)
	set("Flags", l.Flags)
	set("SetFlags", l.SetFlags)
	set("Prefix", l.Prefix)
	set("SetPrefix", l.SetPrefix)
	set("Writer", l.Writer)
	set("SetOutput", l.SetOutput)
	fatal := func(text string) {
		_ = l.Output(2, text)
		in.exit(1)
	}
	set("Fatal", func(v ...any) { fatal(fmt.Sprint(v...)) })
	set("Fatalf", func(format string, v ...any) { fatal(fmt.Sprintf(format, v...)) })
	set("Fatalln", func(v ...any) { fatal(fmt.Sprintln(v...)) })
}
