package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// onlyIn names the modes in which the expectations of an example hold, when
// they are about the mode itself.
var onlyIn = map[string][]string{
	"bounds.tpu":  {"debug"}, // the other modes clamp
	"session.tpu": {"debug"},
	"hbm.tpu":     {"debug", "strict"}, // deferred modes allocate at the cut
}

// TestExamples runs every example with its expectations in every mode.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "examples", "*.tpu"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(src), "// Output:") && !strings.Contains(string(src), "// Error:") {
			t.Errorf("%s expects nothing", name)
		}
		for _, m := range exec.Modes() {
			if only := onlyIn[name]; only != nil && !slices.Contains(only, m.Name) {
				continue
			}
			t.Run(name+"/"+m.Name, func(t *testing.T) {
				t.Parallel()
				if out, errs, code := tpush(t, "test", "--mode="+m.Name, "examples/"+name); code != 0 {
					t.Errorf("exit %d\n%s%s", code, out, errs)
				}
			})
		}
	}
}

// tpush runs the program in the top folder: TestMain has put it on the path.
func tpush(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := osexec.Command("tpush", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root(t), &out, &errs
	err := cmd.Run()
	var exit *osexec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestDigitsAgreeInAllModes is the law of the modes on the main job: the same
// losses bit for bit, ever fewer launches.
func TestDigitsAgreeInAllModes(t *testing.T) {
	launches := map[*exec.Mode]int64{}
	losses := map[*exec.Mode]string{}
	for _, m := range exec.Modes() {
		summary := filepath.Join(t.TempDir(), "summary.json")
		out, errs, code := tpush(t, "run", "--mode="+m.Name, "--summary="+summary, "examples/digits.tpu", "--", "2")
		if code != 0 {
			t.Fatalf("%s: exit %d\n%s", m.Name, code, errs)
		}
		losses[m] = out
		raw, err := os.ReadFile(summary)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Launches int64 `json:"launches"`
			Mode     string
			Peak     int64 `json:"hbm_peak_bytes"`
			TPU      int64 `json:"tpu_time_ns"`
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if s.Mode != m.Name || s.Peak <= 0 || s.TPU <= 0 {
			t.Errorf("%s: the summary is %+v", m.Name, s)
		}
		launches[m] = s.Launches
	}
	for m, got := range losses {
		if got != losses[exec.Debug] || strings.Count(got, "loss") != 2 {
			t.Errorf("%s prints\n%sdebug prints\n%s", m.Name, got, losses[exec.Debug])
		}
	}
	d, s, f, c := launches[exec.Debug], launches[exec.Strict], launches[exec.DeferAndFuse], launches[exec.Compiled]
	if d <= s || s <= f || f <= c || c <= 0 { // a step of an optimizer is one launch in strict
		t.Errorf("launches: debug %d, strict %d, fuse %d, compiled %d", d, s, f, c)
	}
}
