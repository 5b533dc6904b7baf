package cell

import "testing"

func TestFormat(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"statements", "x:=1\ny :=  x+2", "x := 1\ny := x + 2"},
		{"semicolons", "x:=1; y:=2", "x := 1\ny := 2"},
		{"quiet", "x:=1\nx+1 ;", "x := 1\nx + 1;"},
		{"quiet with comment", "x+1; // hidden", "x + 1; // hidden"},
		{"function between", "x:=1\nfunc f( a int )int{return a}\nf( x )", "x := 1\nfunc f(a int) int { return a }\nf(x)"},
		{"function between with blanks", "x:=1\n\n\n\nfunc f( a int )int{\nreturn a}\n\n\nf( x )", "x := 1\n\nfunc f(a int) int {\n\treturn a\n}\n\nf(x)"},
		{"same line", "x := 1; func f() {}; y := 2", "x := 1\nfunc f() {}\ny := 2"},
		{"imports anywhere", "x:=1\nimport  \"sync\"\nimport (\n\"io\"\n)\ny:=2", "x := 1\nimport \"sync\"\nimport (\n\t\"io\"\n)\ny := 2"},
		{"comments", "// head\nx:=1 // one\n/* two */\n// before f\nfunc f(){} // after f\n// last\ny:=2", "// head\nx := 1 // one\n/* two */\n// before f\nfunc f() {} // after f\n// last\ny := 2"},
		{"types", "type P struct{X int;Longer string}\nconst a,b=1,2\nvar v  int", "type P struct {\n\tX      int\n\tLonger string\n}\n\nconst a, b = 1, 2\n\nvar v int"},
		{"matmul", "y:=a@b+c &^ d", "y := a@b + c&^d"},
		{"matmul assign", "y  @=b", "y @= b"},
		{"slices", "x[ : ,0 ]", "x[:, 0]"},
		{"slices with bounds", "y:=x[1:3,:,...,nil]+x[:: 2]+x[i+1: ,0]", "y := x[1:3, :, ..., nil] + x[::2] + x[i+1 :, 0]"},
		{"several", "x[ i,j ]=3", "x[i, j] = 3"},
		{"ellipsis", "x[...,0]", "x[..., 0]"},
		{"go slices", "xs[1 :3]", "xs[1:3]"},
		{"raw string", "s:=`a\n  b`\nt:=1", "s := `a\n  b`\nt := 1"},
		{"blocks", "for i:=range 3{\nif i>1{\nfmt.Println( i )\n}}", "for i := range 3 {\n\tif i > 1 {\n\t\tfmt.Println(i)\n\t}\n}"},
		{"program", "package main\nimport \"fmt\"\nfunc main(){fmt.Println(1)}", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }"},
		{"only a comment", "// nothing", "// nothing"},
		{"generic", "func F[T any]( x T)T{return x}\nF[ int ]( 1 )", "func F[T any](x T) T { return x }\nF[int](1)"},
		{"label", "L:\nfor {\nbreak L\n}", "L:\nfor {\n\tbreak L\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Format(tt.in)
			if err != nil || got != tt.want {
				t.Fatalf("%v\n got %q\nwant %q", err, got, tt.want)
			}
			if again, err := Format(got); err != nil || again != got {
				t.Errorf("not idempotent: %v\n got %q\nthen %q", err, got, again)
			}
		})
	}
}

func TestFormatErrors(t *testing.T) {
	for src, want := range map[string]string{
		"x := 1\ny := )":            "2:6: expected operand, found ')'",
		"func f( {\n}":              "1:9: expected ')', found '{'",
		"x := 1\nx[1:2, :] = = 3":   "2:13: expected operand, found '='",
		"x := a @ @ b":              "1:10: expected operand, found '@'",
		"x := 1\ns := `never\nmore": "2:6: raw string literal not terminated",
	} {
		if _, err := Format(src); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}
