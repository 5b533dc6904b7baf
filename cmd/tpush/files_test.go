package main

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFilesOfAnyForm runs text that no editor of ours would write: marks,
// line ends, overlong lines, junk. Each gets its result or one clear line.
func TestFilesOfAnyForm(t *testing.T) {
	long := strings.Repeat("a", 10<<20)
	for _, c := range []struct {
		name, text     string
		exit           int
		stdout, stderr string // contained
	}{
		{"bom", "\ufefffmt.Println(1)\n", 0, "1\n", ""},
		{"crlf", "x := 1\r\nfmt.Println(x +\r\n\t1)\r\n", 0, "2\n", ""},
		{"old mac", "x := 1\rfmt.Println(x)\r", 0, "1\n", ""},
		{"no last newline", "fmt.Println(3)", 0, "3\n", ""},
		{"script line", "#!/usr/bin/env tpush\nfmt.Println(4)\n", 0, "4\n", ""},
		{"only comments", "// %%\n// nothing\n\n// %% more\n", 0, "", ""},
		{"long string", "x := \"" + long + "\"\nfmt.Println(len(x))\n", 0, "10485760\n", ""},
		{"long name", long + "\n", 1, "", ":1:1: type: undefined: aaaa"},
		{"long comment", "/* " + long + " */ fmt.Println(5)\n", 0, "5\n", ""},
		{"not UTF-8", "x := 1\n\xff\xfe\n", 2, "", ":2: not UTF-8 text"},
		{"zero byte", "x\x00y", 2, "", "not text: byte 0 at offset 1"},
		{"unclosed raw string", "x := 1\ny := `abc\n", 1, "", ":2:6: syntax: "},
		{"unclosed comment", "x := 1\n/* abc\n", 1, "", ":2:1: syntax: "},
		{"closing brace", "}\n", 1, "", ":1:1: syntax: "},
		{"control characters", "\x01\x02\n", 1, "", ":1:1: syntax: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "f.tpu"), c.text)
			var out, errs bytes.Buffer
			cmd := osexec.Command("tpush", "run", "f.tpu")
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != c.exit {
				t.Errorf("exit %d, want %d", got, c.exit)
			}
			if !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.stderr) || c.stderr == "" && errs.Len() > 0 {
				t.Errorf("stdout %.300q, stderr %.300q", out.String(), errs.String())
			}
			if errs.Len() > 4000 || strings.Contains(errs.String(), "goroutine ") {
				t.Errorf("%d bytes on stderr: %.300q", errs.Len(), errs.String())
			}
		})
	}
}

// TestUpdateKeepsTheForm rewrites expectations in files of other forms.
func TestUpdateKeepsTheForm(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"crlf":           {"x := 1\r\nx\r\n// Out: 2\r\n", "x := 1\r\nx\r\n// Out: 1  int\r\n"},
		"bom":            {"\ufeffx := 1\nx\n// Out: 2\n", "\ufeffx := 1\nx\n// Out: 1  int\n"},
		"no last line":   {"x := 1\nx\n// Out: 2", "x := 1\nx\n// Out: 1  int"},
		"indented":       {"1\n\t// Out: 2\n", "1\n\t// Out: 1  int\n"},
		"several lines":  {"fmt.Println(\"a\\nb\")\n// Output: c\n", "fmt.Println(\"a\\nb\")\n// Output:\n// a\n// b\n"},
		"nothing to do":  {"1\n// Out: 1\n", "1\n// Out: 1\n"},
		"text between":   {"1\n// Out: 3\n\n// note\n2\n// Out: 4\n", "1\n// Out: 1  int\n\n// note\n2\n// Out: 2  int\n"},
		"an error block": {"panic(\"x\")\n// Error: y\n", "panic(\"x\")\n// Error: panic: x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "f.tpu")
			write(t, file, c.text)
			if out, err := osexec.Command("tpush", "test", "--update", file).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
			if out, err := osexec.Command("tpush", "test", file).CombinedOutput(); err != nil {
				t.Errorf("it fails after the update: %v\n%s", err, out)
			}
		})
	}
}
