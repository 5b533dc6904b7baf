package pjrt_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tpush/tpush/runtime/device/pjrt"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// TestRecordedLoweringsCompile: XLA takes the recorded lowering of every row.
// Of one that is a custom call of ours it parses all, and then misses the code.
func TestRecordedLoweringsCompile(t *testing.T) {
	o := options(t)
	o.Fast = true
	archives, err := filepath.Glob("../../op/testdata/stablehlo/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no recorded lowerings (%v)", err)
	}
	for _, file := range archives {
		class := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := open(t, o)
			for _, f := range a.Files {
				text := string(f.Data)
				err := pjrt.CompileText(d, text)
				if strings.Contains(text, `call_target_name = "tpush.`) {
					var ce *capi.Error
					if !errors.As(err, &ce) || ce.Code != capi.NotFound {
						t.Errorf("%s: %v, want one that names the custom call", f.Name, err)
					}
				} else if err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		})
	}
}
