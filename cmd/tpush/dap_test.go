package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDAP holds a conversation with the program over its standard input and
// output, the kernel in a process of its own.
func TestDAP(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program.tpu")
	if err := os.WriteFile(program, []byte("x := tpu.Ones(2)\nfor i := range 3 {\n\tx = x.Add(i)\n}\nfmt.Println(x)\n// %%\nos.Exit(3)\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(self, "dap", "--mode=fuse")
	cmd.Args[0] = "tpush" // the test binary then is the program
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, seq := bufio.NewReader(out), 0
	next := func() (text string) {
		t.Helper()
		var n int
		if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &n); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var passed []string // came before what was waited for: an event may overtake a response
	until := func(parts ...string) string {
		t.Helper()
		fits := func(m string) bool {
			for _, p := range parts {
				if !strings.Contains(m, p) {
					return false
				}
			}
			return true
		}
		for i, m := range passed {
			if fits(m) {
				passed = append(passed[:i:i], passed[i+1:]...)
				return m
			}
		}
		for {
			m := next()
			if fits(m) {
				return m
			}
			passed = append(passed, m)
		}
	}
	ask := func(command string, args any) string {
		t.Helper()
		seq++
		b, err := json.Marshal(map[string]any{"seq": seq, "type": "request", "command": command, "arguments": args})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(b), b)
		return until(fmt.Sprintf(`"request_seq":%d,`, seq), `"type":"response"`)
	}
	type args map[string]any
	ask("initialize", args{"adapterID": "tpush"})
	if m := ask("launch", args{"program": program}); !strings.Contains(m, `"success":true`) {
		t.Fatal(m)
	}
	if m := ask("setBreakpoints", args{"source": args{"path": program}, "breakpoints": []args{{"line": 3, "condition": "i == 2"}}}); !strings.Contains(m, `"verified":true`) {
		t.Fatal(m)
	}
	ask("configurationDone", args{})
	until(`"event":"stopped"`, `"reason":"breakpoint"`)
	if m := ask("evaluate", args{"expression": "x", "context": "hover"}); !strings.Contains(m, "deferred") || !strings.Contains(m, "[2 2] (recomputed)") {
		t.Error(m)
	}
	ask("continue", args{"threadId": 1})
	until(`"event":"output"`, "[4 4]")
	until(`"event":"exited"`, `"exitCode":3`)
	until(`"event":"terminated"`)
	ask("disconnect", args{})
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestLoopback(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "127.8.9.1:70": true, "[::1]:0": true, "localhost:1": true,
		":0": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.org:1": false, "nonsense": false, "": false,
	} {
		if err := loopback(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
