package interp

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
)

// replaceFlag gives package flag a command line of the session: its own would
// read the arguments of the kernel, and end the process at a mistake.
func (in *Interp) replaceFlag(m map[string]reflect.Value) {
	name, args := "cell", []string{}
	if len(in.opt.Args) > 0 {
		name, args = in.opt.Args[0], in.opt.Args[1:]
	}
	out := in.stderr()
	line := flag.NewFlagSet(name, flag.ExitOnError)
	line.SetOutput(out)
	of := reflect.ValueOf(line)
	for symbol := range m {
		if f := of.MethodByName(symbol); f.IsValid() {
			m[symbol] = f
		}
	}
	usage := func() {
		fmt.Fprintf(line.Output(), "Usage of %s:\n", name)
		line.PrintDefaults()
	}
	line.Usage = func() { // what comes after it in ExitOnError is the end of the process
		usage()
		in.exit(helpCode(args))
	}
	m["Usage"] = reflect.ValueOf(&usage).Elem()
	m["CommandLine"] = reflect.ValueOf(&line).Elem()
	m["Parse"] = reflect.ValueOf(func() { _ = line.Parse(args) })
	m["NewFlagSet"] = reflect.ValueOf(func(name string, h flag.ErrorHandling) *flag.FlagSet {
		fs := flag.NewFlagSet(name, h)
		fs.SetOutput(out)
		if h == flag.ExitOnError {
			fs.Usage = func() {
				fmt.Fprintf(fs.Output(), "Usage of %s:\n", name)
				fs.PrintDefaults()
				in.exit(2)
			}
		}
		return fs
	})
}

// helpCode is the exit code after the usage was printed.
func helpCode(args []string) int {
	for _, h := range [...]string{"-h", "-help", "--h", "--help"} {
		if slices.Contains(args, h) {
			return 0
		}
	}
	return 2
}
