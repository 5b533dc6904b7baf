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

// TestExamplesGenerated compares examples_gen_test.go with what the table gives now.
func TestExamplesGenerated(t *testing.T) {
	want, err := examples()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../examples_gen_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("examples_gen_test.go does not fit the table of operations: run go generate ./...")
	}
}
