package selftest

import (
	"os"
	"strings"
	"testing"
)

// TestDeparturesDocumented: docs/xla.md says where XLA departs.
func TestDeparturesDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/xla.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range XLADepartures() {
		if !strings.Contains(string(b), d.Why) {
			t.Errorf("docs/xla.md does not say %q", d.Why)
		}
	}
}
