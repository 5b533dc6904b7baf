package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
)

const (
	xlaUsage  = "[CHIP] [N|gN|NAME|FILE] [--bundles]"
	planUsage = "[CHIP] [N|gN|NAME|FILE]"
)

func compilerCommands() []Command {
	return []Command{
		{
			Name: "plan", Group: Look, Args: planUsage,
			Doc:      "predicts how programs run on a chip: kernels, TPU time, HBM",
			Help:     "Of a cell (N, the last one without), a launch (gN), a tensor or compiled function by its name, or of a .tpu file, whose cells then run in compiled mode in a session of their own. Operations that were launched alone are taken as one program. Without --all only the most expensive programs are listed; --json gives everything. :xla asks the real TPU compiler beside it.",
			Example:  "x := tpu.Ones(256, 256)\ny := x.MatMul(x).Add(1).Tanh()\n:plan v6e y",
			Run:      func(c *Call) (Answer, error) { return compilerAnswer(c, "plan", planUsage, false) },
			Complete: subjectWords("--all", "--json"),
		},
		{
			Name: "xla", Group: Look, Args: xlaUsage,
			Doc:     "compiles with the real TPU compiler: fusions, layouts, memory",
			Help:    "No TPU is needed, and what it says stands beside the prediction. Of a cell (N, the last one without), a launch (gN), a tensor or compiled function by its name, a .tpu file, or StableHLO in an .mlir file. Each fusion has the lines of its operations, the compiler's cycles, VMEM and unit; rows marked ! differ from the prediction. --bundles reads the machine code and shows how it fills the VLIW slots; --all compiles every program and not only the most expensive; --json gives everything. The compiler is libtpu: tpush plugin add tpu.",
			Example: "x := tpu.Ones(256, 256)\ny := x.MatMul(x).Add(1).Tanh()\n:xla v5e y", TPU: true,
			Run:      func(c *Call) (Answer, error) { return compilerAnswer(c, "xla", xlaUsage, true) },
			Complete: subjectWords("--bundles", "--all", "--json"),
		},
	}
}

// subjectWords completes chips, variables and options.
func subjectWords(options ...string) func(*repl.Session, string) []string {
	return func(s *repl.Session, prefix string) []string {
		return append(append(chips(), options...), names(s, prefix)...)
	}
}

// xlaArgs are the arguments of both commands.
type xlaArgs struct {
	chip                 string
	what                 string // "" for the last cell
	bundles, all, asJSON bool
}

func parseXLA(c *Call, name, usage string) (a xlaArgs, err error) {
	for _, w := range c.Args {
		switch {
		case w == "--bundles" && name == "xla":
			a.bundles = true
		case w == "--all":
			a.all = true
		case w == "--json":
			a.asJSON = true
		case strings.HasPrefix(w, "--"):
			return a, &UsageError{name, usage, "no option " + w}
		case a.chip == "" && isChip(c.Session, w):
			a.chip = w
		case a.what == "":
			a.what = w
		default:
			return a, &UsageError{name, usage, fmt.Sprintf("one subject is wanted, not %s and %s", a.what, w)}
		}
	}
	if a.chip == "" {
		a.chip = c.Session.Device().Chip().Name
	}
	return a, nil
}

// isChip says whether a word is the name of a chip and not of a variable.
func isChip(s *repl.Session, w string) bool {
	_, err := device.LookupChip(w)
	return err == nil && findVariable(s, w) == nil
}

// compilerAnswer is :plan, and with the real compiler :xla.
func compilerAnswer(c *Call, name, usage string, real bool) (Answer, error) {
	a, err := parseXLA(c, name, usage)
	if err != nil {
		return Answer{}, err
	}
	chip, err := device.LookupChip(a.chip)
	if err != nil {
		return Answer{}, err
	}
	var compiler *ahead.Compiler
	if real {
		if compiler, err = c.Session.Compiler(); err != nil {
			return Answer{}, err
		}
	}
	r, err := compilerReport(c, a, chip, compiler, name, usage)
	if err != nil {
		return Answer{}, err
	}
	c.Session.KeepReport(r)
	if a.asJSON {
		b, err := json.MarshalIndent(r, "", "  ")
		return Answer{Text: string(b)}, err
	}
	return Answer{Text: r.Text(c.Session.Style().Theme, xlaWidth)}, nil
}

// xlaWidth is how wide reports are printed: their tables have many columns.
const xlaWidth = 132

func compilerReport(c *Call, a xlaArgs, chip *device.Chip, compiler *ahead.Compiler, name, usage string) (*xla.Report, error) {
	o := ahead.Options{Slots: a.bundles}
	if limit := c.Session.Device().HBM().Limit(); limit < chip.HBMBytes && chip.Name == c.Session.Device().Chip().Name {
		o.HBMMiB = max(limit>>20, 1) // the session has less
	}
	switch filepath.Ext(a.what) {
	case ".mlir":
		if compiler == nil {
			return nil, &UsageError{name, usage, "only cells are predicted; :xla compiles " + a.what}
		}
		text, err := os.ReadFile(a.what)
		if err != nil {
			return nil, err
		}
		return xla.LookModule(c.Ctx, a.what, string(text), chip, compiler, o)
	case ".tpu":
		subjects, err := fileSubjects(c.Ctx, a.what, chip)
		if err != nil {
			return nil, err
		}
		return lookAt(c, a, a.what, subjects, chip, compiler, o)
	}
	title, subjects, err := subjectsOf(c.Session, a.what)
	if err != nil {
		return nil, err
	}
	if len(subjects) == 0 {
		return nil, &UsageError{name, usage, title + " launched nothing"}
	}
	return lookAt(c, a, title, subjects, chip, compiler, o)
}

// usualPrograms is how many programs are looked at without --all.
const usualPrograms = 4

// lookAt makes the report of the most expensive subjects, in their order.
func lookAt(c *Call, a xlaArgs, title string, subjects []xla.Subject, chip *device.Chip, compiler *ahead.Compiler, o ahead.Options) (*xla.Report, error) {
	all := len(subjects)
	if !a.all && all > usualPrograms {
		subjects = expensive(subjects, chip, usualPrograms)
	}
	r, err := xla.Look(c.Ctx, title, subjects, chip, compiler, o)
	if err != nil {
		return nil, err
	}
	r.Left = all - len(subjects)
	return r, nil
}

// expensive keeps the n subjects that are predicted to take most time in all.
func expensive(subjects []xla.Subject, chip *device.Chip, n int) []xla.Subject {
	type priced struct {
		at int
		ns int64
	}
	prices := make([]priced, len(subjects))
	for i := range subjects {
		prices[i].at = i
		if g := subjects[i].Graph; g != nil {
			prices[i].ns = xla.Predict(g, chip, 0).TimeNS * int64(max(len(subjects[i].Groups), 1))
		}
	}
	slices.SortStableFunc(prices, func(a, b priced) int { return int(min(max(b.ns-a.ns, -1), 1)) })
	prices = prices[:n]
	slices.SortFunc(prices, func(a, b priced) int { return a.at - b.at })
	var kept []xla.Subject
	for _, p := range prices {
		kept = append(kept, subjects[p.at])
	}
	return kept
}
