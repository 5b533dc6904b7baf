package plain_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
)

var update = flag.Bool("update", false, "rewrite docs/errors.md")

// discard takes the output of cells.
type discard struct{}

func (discard) Stream(string, string)  {}
func (discard) Input() (string, error) { return "", io.EOF }

// fail runs the example of a kind and gives what a user sees.
func fail(t *testing.T, k repl.Kind) string {
	t.Helper()
	s, err := repl.NewSession(repl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	switch k.Word { // these come from outside of the cell
	case "interrupt":
		c, cancel := context.WithCancel(ctx)
		cancel()
		ctx = c
	case "timeout":
		c, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
		defer cancel()
		ctx = c
	}
	var b bytes.Buffer
	if repl.IsCommand(k.Example) {
		_, err := command.Run(ctx, s, k.Example, discard{})
		if err == nil {
			t.Fatalf("%s: the example does not fail", k.Word)
		}
		plain.PrintError(&b, kernel.ErrorContent{Name: "command", Value: err.Error(), Cell: 1}, false)
		return b.String()
	}
	c := s.Run(ctx, k.Example, "", 1, discard{})
	if c == nil || len(c.Reports) == 0 {
		t.Fatalf("%s: the example does not fail", k.Word)
	}
	for _, r := range c.Reports {
		if r.Kind != k.Word {
			t.Errorf("%s: the example fails with %s: %s", k.Word, r.Kind, r.Message)
		}
		plain.PrintError(&b, kernel.ErrorContent{Name: r.Kind, Value: r.Message, Traceback: r.Block, Cell: r.Cell, Line: r.Line, Column: r.Column}, false)
	}
	return wallTime.ReplaceAllString(b.String(), "after …")
}

// wallTime is what differs from run to run.
var wallTime = regexp.MustCompile(`after [0-9.]+[a-zµ]*s`)

func TestKindsDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Errors\n\nGenerated from the table in `repl/report.go` by running each example; `go test ./repl/plain -run Kinds -update` rewrites it.\n\n" +
		"The first line of an error is `file:line:column: kind: message`, the column being that of the operation. Below it stand the source with the place underlined, " +
		"what is known about the operands, and the calling lines. The kind word decides the exit code of `tpush run`.\n\n| kind | it says | exit |\n|---|---|--:|\n")
	for _, k := range repl.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %d |\n", k.Word, k.Doc, plain.ExitCode(k.Word))
	}
	fmt.Fprintf(&b, "\nFurther exit codes: %d all went well or failed as expected, %d wrong use of the program (unknown flag, missing file), %d the kernel process died, %d SIGTERM. "+
		"`os.Exit(n)` in a program exits with n.\n", plain.ExitOK, plain.ExitUsage, plain.ExitKernelDied, plain.ExitTerminated)
	for _, k := range repl.Kinds() {
		if k.Doc == "" {
			t.Errorf("%s has no text", k.Word)
		}
		if k.Example == "" {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```go\n%s\n```\n```text\n%s```\n", k.Word, strings.ToUpper(k.Doc[:1])+k.Doc[1:], k.Example, fail(t, k))
	}
	path := filepath.Join("..", "..", "docs", "errors.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Error("docs/errors.md is not what happens; run with -update")
	}
}
