package programs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"
)

// A declared is a declaration of this package's files.
type declared struct {
	text   string
	names  []string
	method string // type of a method's receiver
	uses   map[string]bool
	at     int
}

// Extract makes a whole program of each function F_NAME of this package: the
// declarations that it needs, and its statements as main.
func Extract() (map[string]string, error) {
	var decls []declared
	funcs := map[string]*ast.FuncDecl{}
	bodies := map[string]string{}
	imports := map[string]string{}
	for _, name := range []string{"basic.go", "library.go", "language.go"} {
		b, err := Sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, b, 0)
		if err != nil {
			return nil, err
		}
		text := func(n ast.Node) string {
			return string(b[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
		}
		for _, im := range f.Imports {
			path := strings.Trim(im.Path.Value, `"`)
			name := path[strings.LastIndex(path, "/")+1:]
			if im.Name != nil {
				name = im.Name.Name
			}
			if name == "v2" {
				name = "rand"
			}
			imports[name] = text(im)
		}
		for _, d := range f.Decls {
			x := declared{text: text(d), uses: usedNames(d), at: len(decls)}
			switch d := d.(type) {
			case *ast.FuncDecl:
				if strings.HasPrefix(d.Name.Name, "F_") {
					funcs[d.Name.Name] = d
					bodies[d.Name.Name] = mainOf(d, text)
					continue
				}
				if d.Recv != nil {
					x.method, _ = receiverBase(d.Recv.List[0].Type)
				} else {
					x.names = []string{d.Name.Name}
				}
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						x.names = append(x.names, s.Name.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							x.names = append(x.names, id.Name)
						}
					}
				}
			}
			decls = append(decls, x)
		}
	}
	out := map[string]string{}
	for name, d := range funcs {
		out[name] = assemble(decls, usedNames(d), bodies[name], imports)
	}
	return out, nil
}

// mainOf writes a function that gives a text as a main that prints it.
func mainOf(d *ast.FuncDecl, text func(ast.Node) string) string {
	list := d.Body.List
	returns := 0
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.DeferStmt:
			returns++
		}
		return true
	})
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || returns != 1 || len(last.Results) != 1 || len(d.Type.Results.List[0].Names) > 0 {
		return text(d) + "\n\nfunc main() { fmt.Print(" + d.Name.Name + "()) }\n"
	}
	var b strings.Builder
	b.WriteString("func main() {\n")
	for _, st := range list[:len(list)-1] {
		b.WriteString(text(st) + "\n")
	}
	b.WriteString("fmt.Print(" + text(last.Results[0]) + ")\n}\n")
	return b.String()
}

// assemble puts a program together.
func assemble(decls []declared, uses map[string]bool, body string, imports map[string]string) string {
	need := map[int]bool{}
	names := map[string]bool{"fmt": true}
	var add func(uses map[string]bool)
	add = func(uses map[string]bool) {
		for u := range uses {
			if names[u] {
				continue
			}
			names[u] = true
			for _, d := range decls {
				hit := d.method == u
				for _, n := range d.names {
					hit = hit || n == u
				}
				if hit && !need[d.at] {
					need[d.at] = true
					add(d.uses)
				}
			}
		}
	}
	add(uses)
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	var list []string
	for n, text := range imports {
		if names[n] {
			list = append(list, text)
		}
	}
	sort.Strings(list)
	b.WriteString(strings.Join(list, "\n") + "\n)\n\n")
	for _, d := range decls {
		if need[d.at] {
			b.WriteString(d.text + "\n\n")
		}
	}
	return b.String() + body
}
