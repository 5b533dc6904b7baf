package interp

import (
	"go/types"
	"os/exec"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// surface writes what a package exports, one line an object or method.
func surface(p *types.Package) (out []string) {
	q := types.RelativeTo(p)
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		out = append(out, types.ObjectString(o, q))
		if t, ok := o.(*types.TypeName); ok {
			ms := types.NewMethodSet(types.NewPointer(t.Type()))
			for m := range ms.Methods() {
				if m.Obj().Exported() {
					out = append(out, name+"."+types.ObjectString(m.Obj(), q))
				}
			}
		}
	}
	sort.Strings(out)
	return out
}

// TestUniverseIsFresh compares what cells see of this module's packages with
// the packages themselves.
func TestUniverseIsFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	im, err := newImporter(exportStd, exportOwn)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range im.paths() {
		if strings.Contains(p, ".") {
			paths = append(paths, p)
		}
	}
	ps, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		got, err := im.Import(p.PkgPath)
		if err != nil {
			t.Fatal(err)
		}
		have, want := surface(got), surface(p.Types)
		if strings.Join(have, "\n") == strings.Join(want, "\n") {
			continue
		}
		in := map[string]bool{}
		for _, l := range have {
			in[l] = true
		}
		n := 0
		for _, l := range want {
			if !in[l] && n < 5 {
				n++
				t.Errorf("cells do not see: %s", l)
			}
		}
		t.Errorf("%s: %d lines in cells, %d in the package: run go generate ./repl/interp", p.PkgPath, len(have), len(want))
	}
}

func TestNamesOfPyTorch(t *testing.T) {
	in, err := New(Options{Universe: TPU()})
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		"tpu.manual_seed(0)":              "(here: tpu.Seed(n))",
		"tpu.Ones(2).add_(1)":             "(here: x.AddInPlace)",
		"tpu.Ones(2).copy_(1)":            "(here: x.CopyFrom(y))",
		"tpu.Ones(2).masked_fill(nil, 0)": "(here: x.MaskedFill)",
		"nn.NewReLU()":                    "(here: nn.Func((*tpu.Tensor).ReLU))",
		"nn.NewGELU()":                    "(here: nn.Func(func(x *tpu.Tensor) *tpu.Tensor { return x.GELU() }))",
		"nn.NewLinear(2, 3).Parameters()": "(here: nn.Params(model))",
		"torch.randn(2)":                  "(here: tpu, nn and optim)",
		"sum(1)":                          "undefined: sum",
		"strings.tensor":                  "undefined: strings.tensor",
	} {
		_, err := in.Check(Source{Text: src})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
