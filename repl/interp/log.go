package interp

import (
	"fmt"
	"io"
	"log"
)

// replaceLog gives package log's functions on a logger of the session: it
// writes to the cells' standard error, and Fatal ends the run, not the process.
func (in *Interp) replaceLog(set func(name string, f any)) {
	w := in.opt.Stderr
	if w == nil {
		w = io.Discard
	}
	l := log.New(w, "", log.LstdFlags)
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
