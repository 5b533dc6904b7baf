package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGenerated compares ops_gen.go with what the table gives now.
func TestGenerated(t *testing.T) {
	want, err := source("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../ops_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("ops_gen.go does not fit the table of operations: run go generate ./...")
	}
}
