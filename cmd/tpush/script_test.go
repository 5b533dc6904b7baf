package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tpush":          func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"tpush-breaking": breaking,
	})
}

// TestScripts runs the program as users do.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root": // may read everything
				return os.Geteuid() == 0, nil
			case "compiler": // TPUSH_XLA_TPU names the TPU compiler's library
				return os.Getenv("TPUSH_XLA_TPU") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(e *testscript.Env) error {
			for _, v := range []string{"TORCH_TPU_LAUNCH_BLOCKING", "TORCH_TPU_DEFER_AND_FUSE", "TORCH_TPU_ENABLE_DEBUG_CHECKS", "TPU_LIBRARY_PATH"} {
				e.Setenv(v, "")
			}
			e.Setenv("TPUSH_XLA_TPU", os.Getenv("TPUSH_XLA_TPU"))
			for _, v := range []string{"GOCACHE", "GOPATH"} { // go tool builds pprof
				e.Setenv(v, goEnv(v))
			}
			return nil
		},
	})
}

// goEnv asks the go command where it keeps things; "" when there is none.
func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
