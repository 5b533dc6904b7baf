package programs

import (
	"embed"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// archives hold whole programs by family: NAME.go, and in NAME.out what
// go run prints. Those of the family random are made of their seeds.
//
//go:embed testdata/*.txtar
var archives embed.FS

// A Program is a complete Go program and what it does when Go runs it.
type Program struct {
	Name   string // FAMILY/NAME
	Source string // package main
	Output string // standard output; after a panic its message in a last line
}

// Recorded lists the programs whose native output is recorded, by name.
func Recorded() ([]Program, error) {
	files, err := archives.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var out []Program
	for _, f := range files {
		b, err := archives.ReadFile("testdata/" + f.Name())
		if err != nil {
			return nil, err
		}
		list, err := ParseArchive(strings.TrimSuffix(f.Name(), ".txtar"), b)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	for i, p := range out {
		if seed, ok := strings.CutPrefix(p.Name, "random/"); ok {
			n, err := strconv.ParseUint(seed, 10, 64)
			if err != nil {
				return nil, err
			}
			out[i].Source = Random(n)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// ParseArchive reads the programs of one family. A program that is not recorded
// yet has no output.
func ParseArchive(family string, text []byte) ([]Program, error) {
	byName := map[string]*Program{}
	var order []string
	for _, f := range txtar.Parse(text).Files {
		name, ext, _ := strings.Cut(f.Name, ".")
		p := byName[name]
		if p == nil {
			p = &Program{Name: family + "/" + name}
			byName[name] = p
			order = append(order, name)
		}
		switch ext {
		case "go":
			if p.Source != "" {
				return nil, fmt.Errorf("%s: program %s twice", family, name)
			}
			p.Source = string(f.Data)
		case "out":
			p.Output = string(f.Data)
		default:
			return nil, fmt.Errorf("%s: file %s is neither .go nor .out", family, f.Name)
		}
	}
	out := make([]Program, len(order))
	for i, n := range order {
		out[i] = *byName[n]
	}
	return out, nil
}

// FormatArchive writes the programs of one family.
func FormatArchive(list []Program) []byte {
	var a txtar.Archive
	for _, p := range list {
		_, name, _ := strings.Cut(p.Name, "/")
		if !strings.HasPrefix(p.Name, "random/") {
			a.Files = append(a.Files, txtar.File{Name: name + ".go", Data: []byte(p.Source)})
		}
		a.Files = append(a.Files, txtar.File{Name: name + ".out", Data: []byte(p.Output)})
	}
	return txtar.Format(&a)
}
