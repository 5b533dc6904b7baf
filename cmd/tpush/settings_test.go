package main

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfiguration runs every front end without a screen with a configuration:
// one that is right decides what the flags leave open, one that is wrong is an
// error with its place, and never ignored.
func TestConfiguration(t *testing.T) {
	for _, c := range []struct {
		name, config, stdin string
		args                []string
		exit                int
		want                string
	}{
		{"eval shows by it", "[print]\nwidth = 10\n", "", []string{"eval", "[]string{\"aaaa\", \"bbbb\", \"cccc\"}"}, 0, "\n"},
		{"eval in its mode", "[run]\nmode = \"fuse\"\n", "", []string{"eval", ":mode"}, 0, "fuse"},
		{"a flag wins", "[run]\nmode = \"fuse\"\n", "", []string{"eval", "--mode=strict", ":mode"}, 0, "strict"},
		{"cells in its time", "[run]\ntimeout = \"50ms\"\n", "for {}\n", []string{"repl"}, 124, "timeout"},
		{"run", "[ui]\nthem = \"dark\"\n", "", []string{"run", "f.tpu"}, 2, "config.toml:2:1: ui.them"},
		{"repl", "[ui\n", "1\n", []string{"repl"}, 2, "config.toml:1:"},
		{"plain", "[keys]\nrun = \"ctr+x\"\n", "1\n", []string{"--plain"}, 2, "config.toml:2:1: keys.run"},
		{"eval", "x = 1\n", "", []string{"eval", "1"}, 2, "config.toml:1:1: x"},
		{"doctor", "x = 1\n", "", []string{"doctor"}, 0, "config.toml:1:1: x"},
		{"doctor, all well", "[ui]\ntheme = \"light\"\n", "", []string{"doctor"}, 0, "config.toml: in force"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "tpush"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "tpush", "config.toml"), c.config)
			write(t, filepath.Join(dir, "f.tpu"), "fmt.Println(1)\n")
			cmd := osexec.Command("tpush", c.args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CONFIG_HOME="+dir)
			cmd.Stdin = strings.NewReader(c.stdin)
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.exit || !strings.Contains(string(out), c.want) {
				t.Errorf("exit %d, want %d and %q:\n%s", got, c.exit, c.want, out)
			}
		})
	}
}
