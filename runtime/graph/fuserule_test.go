package graph

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated files")

func TestFusionPageIsCurrent(t *testing.T) {
	const path = "../../docs/fusion.md"
	if *update {
		if err := os.WriteFile(path, []byte(FusionMarkdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != FusionMarkdown() {
		t.Errorf("%s is not what the table says (%v): run go test ./runtime/graph -update", path, err)
	}
}

func TestFusionRulesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range FusionRules() {
		if r.ID == "" || r.Sentence == "" || seen[r.ID] {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
		if got, ok := LookupFusionRule(r.ID); !ok || got != r {
			t.Errorf("lookup of %s gives %+v", r.ID, got)
		}
	}
	if _, ok := LookupFusionRule("F99"); ok {
		t.Error("found a rule that does not exist")
	}
}
