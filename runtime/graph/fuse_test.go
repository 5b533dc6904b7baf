package graph

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A sketch writes graphs in one line a node.
type sketch struct {
	g     Graph
	names map[string]Ref
}

// Rows of the test, by name.
func testDef(name string) *op.Def {
	switch name {
	case "sum", "max":
		return &op.Def{Name: op.Name(name), Class: op.Reduce}
	case "softmax":
		return &op.Def{Name: op.Name(name), Class: op.Normalize}
	case "matmul", "bmm":
		return &op.Def{Name: op.Name(name), Class: op.Contract, Cost: func([]shape.Spec, []shape.Spec, op.Attrs) op.Cost {
			return op.Cost{M: 8, N: 8, K: 8, B: map[string]int{"matmul": 1, "bmm": 4}[name]}
		}}
	case "cholesky":
		return &op.Def{Name: op.Name(name), Class: op.Contract}
	case "gather", "scatter":
		return &op.Def{Name: op.Name(name), Class: op.Index}
	case "cumsum":
		return &op.Def{Name: op.Name(name), Class: op.Reduce}
	case "expand", "slice":
		return &op.Def{Name: op.Name(name), Class: op.View, Traits: op.MetadataOnly}
	case "t":
		return &op.Def{Name: op.Name(name), Class: op.View, Traits: op.MetadataOnly, View: func(v shape.View, _ op.Attrs) (shape.View, error) {
			return shape.View{Dims: []int{v.Dims[1], v.Dims[0]}, Strides: []int{v.Strides[1], v.Strides[0]}}, nil
		}}
	case "full":
		return &op.Def{Name: op.Name(name), Class: op.Factory}
	case "rand":
		return &op.Def{Name: op.Name(name), Class: op.Random, Traits: op.Draws}
	case "cat":
		return &op.Def{Name: op.Name(name), Class: op.Move}
	}
	return &op.Def{Name: op.Name(name), Class: op.Elementwise}
}

func testSpec(s string) shape.Spec {
	sp := shape.Spec{DType: dtype.F32}
	if t, rest, ok := strings.Cut(s, "["); ok {
		sp.DType, _ = dtype.Parse(t)
		s = strings.TrimSuffix(rest, "]")
	}
	for _, d := range strings.Split(s, ",") {
		var n int
		if _, err := fmt.Sscan(d, &n); err == nil {
			sp.Dims = append(sp.Dims, n)
		}
	}
	return sp
}

// draw reads "x = in f32[8,8]", "y = add f32[8,8] x x" and "out y".
func draw(t *testing.T, text string) *Graph {
	t.Helper()
	s := sketch{names: map[string]Ref{}}
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		w := strings.Fields(l)
		switch {
		case w[0] == "out":
			for _, n := range w[1:] {
				s.g.Outputs = append(s.g.Outputs, s.names[n])
			}
		case w[2] == "in":
			n := &Node{Outs: []shape.Spec{testSpec(w[3])}, Index: len(s.g.Inputs)}
			s.g.Inputs = append(s.g.Inputs, n)
			s.names[w[0]] = Ref{Node: n}
		default:
			n := &Node{Def: testDef(w[2]), Outs: []shape.Spec{testSpec(w[3])}, Index: len(s.g.Nodes)}
			for _, x := range w[4:] {
				n.In = append(n.In, s.names[x])
			}
			s.g.Nodes = append(s.g.Nodes, n)
			s.names[w[0]] = Ref{Node: n}
		}
	}
	if err := Check(&s.g); err != nil {
		t.Fatal(err)
	}
	return &s.g
}

// kernels prints groups: operations joined by +, the rule that ended them.
func kernels(g *Graph) string {
	var all []string
	for _, grp := range Fuse(g) {
		var names []string
		for _, i := range grp.Nodes {
			names = append(names, string(g.Nodes[i].Def.Name))
		}
		all = append(all, strings.Join(names, "+")+" "+grp.Rule)
	}
	return strings.Join(all, " | ")
}

func TestFuseRules(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"F0 constants and broadcasts go along", `
			x = in 8,8
			b = in 8
			c = full 8,8
			w = expand 8,8 b
			y = add 8,8 x w
			z = mul 8,8 y c
			out z`, "full+expand+add+mul OUT"},
		{"F1 chain", `
			x = in 8,8
			a = exp 8,8 x
			b = neg 8,8 a
			out b`, "exp+neg OUT"},
		{"F2 row statistics are written first", `
			x = in 8,8
			r = in 8,1
			a = rsqrt 8,1 r
			w = expand 8,8 a
			b = mul 8,8 x w
			out b`, "rsqrt F2 | expand+mul OUT"},
		{"F3 F4 softmax by hand is three kernels, exp computed twice", `
			x = in 8,8
			m = max 8,1 x
			w = expand 8,8 m
			s = sub 8,8 x w
			e = exp 8,8 s
			r = sum 8,1 e
			v = expand 8,8 r
			d = div 8,8 e v
			out d`, "max F4 | expand+sub+exp+sum F4 | expand+sub+exp+expand+div OUT"},
		{"F5 epilogue", `
			x = in 8,8
			w = in 8,8
			b = in 8
			y = matmul 8,8 x w
			v = expand 8,8 b
			z = add 8,8 y v
			a = relu 8,8 z
			out a`, "matmul+expand+add+relu OUT"},
		{"F6 the sum of a product joins it", `
			x = in 8,8
			w = in 8,8
			y = matmul 8,8 x w
			s = sum 8 y
			out y s`, "matmul+sum OUT"},
		{"F7 prologue", `
			x = in 8,8
			w = in 8,8
			a = relu 8,8 x
			y = matmul 8,8 a w
			out y`, "relu+matmul OUT"},
		{"F8 the value used twice stays with the first product", `
			x = in 8,8
			w = in 8,8
			b = in 8,8
			y = matmul 8,8 x w
			h = add 8,8 y b
			t1 = tanh 8,8 h
			g = mul 8,8 h t1
			z = matmul 8,8 g w
			out z`, "matmul+add F8 | tanh+mul+matmul OUT"},
		{"F8 all uses of a product that meet again follow it", `
			x = in 8,8
			w = in 8,8
			y = matmul 8,8 x w
			t1 = tanh 8,8 y
			g = mul 8,8 y t1
			out g`, "matmul+tanh+mul OUT"},
		{"F9 one product in a kernel, siblings apart", `
			x = in 8,8
			w = in 8,8
			q = matmul 8,8 x w
			k = matmul 8,8 x w
			s = matmul 8,8 q k
			out s`, "matmul F9 | matmul F9 | matmul OUT"},
		{"F9 a sum of products follows the later one", `
			x = in 8,8
			w = in 8,8
			q = matmul 8,8 x w
			k = matmul 8,8 w x
			s = add 8,8 q k
			out s`, "matmul F8 | matmul+add OUT"},
		{"F10 attention by hand", `
			q = in 4,8,8
			k = in 4,8,8
			c = full 4,8,8
			s = bmm 4,8,8 q k
			a = mul 4,8,8 s c
			m = max 4,8,1 a
			w = expand 4,8,8 m
			d = sub 4,8,8 a w
			e = exp 4,8,8 d
			r = sum 4,8,1 e
			v = expand 4,8,8 r
			p = div 4,8,8 e v
			o = bmm 4,8,8 p k
			out o`, "full+bmm+mul+max+expand+sub+exp+sum F4 | expand+div+bmm OUT"},
		{"F10 softmax as one row", `
			q = in 4,8,8
			s = bmm 4,8,8 q q
			p = softmax 4,8,8 s
			o = bmm 4,8,8 p q
			out o`, "bmm+softmax F4 | bmm OUT"},
		{"F11 siblings of one size share their operand", `
			x = in 8,8
			a = exp 8,8 x
			b = neg 8,8 x
			out a b`, "exp+neg OUT"},
		{"F11 not when a third kernel stands between", `
			x = in 8,8
			i = in 8,8
			a = exp 8,8 x
			s = gather 8,8 a i
			b = add 8,8 a s
			out a b`, "exp OUT | gather F12 | add OUT"},
		{"F12 gather, scan, factorization and random numbers stand alone", `
			x = in 8,8
			a = exp 8,8 x
			g = gather 8,8 a x
			c = cumsum 8,8 g
			l = cholesky 8,8 c
			r = rand 8,8 x
			n = add 8,8 l r
			out n`, "exp F12 | gather F12 | cumsum F12 | cholesky F12 | rand F12 | add OUT"},
		{"F12 concatenation takes nothing in", `
			x = in 8,8
			a = exp 8,8 x
			c = cat 16,8 a x
			n = neg 16,8 c
			out n`, "exp F12 | cat+neg OUT"},
		{"F14 a slice is read from memory", `
			x = in 8,8
			a = exp 8,8 x
			s = slice 4,8 a
			n = neg 4,8 s
			out n`, "exp F14 | slice+neg OUT"},
		{"F16 a cheap value is computed again, but not for everybody", `
			x = in 8,8
			e = exp 8,8 x
			a = sum 8 e
			b = sum 8 e
			c = sum 8 e
			d = sum 8 e
			f = sum 8 e
			out a b c d f`, "exp+sum+sum+sum+sum+sum OUT"},
		{"F17 a transposition between elementwise kernels", `
			x = in 8,8
			a = exp 8,8 x
			b = t 8,8 a
			c = add 8,8 b x
			out c`, "exp F17 | t+add OUT"},
		{"F17 a product reads transposed operands", `
			x = in 8,8
			a = exp 8,8 x
			b = t 8,8 a
			c = matmul 8,8 b x
			out c`, "exp+t+matmul OUT"},
		{"F18 single numbers", `
			l = in
			x = in 8,8
			a = mul [] l l
			b = sqrt [] a
			w = expand 8,8 b
			y = mul 8,8 x w
			out y`, "mul F18 | sqrt F18 | expand+mul OUT"},
		{"a widening conversion is copied into every user", `
			x = in bf16[8,8]
			y = in 8,8
			c = to f32[8,8] x
			a = sum 8 c
			v = expand 8,8 a
			b = add 8,8 c v
			d = sum 8 b
			out d`, "to+sum F4 | to+expand+add+sum OUT"},
		{"an output view is a kernel of its own", `
			x = in 8,8
			b = t 8,8 x
			out b`, "t OUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.graph = strings.ReplaceAll(c.graph, "l = in\n", "l = in []\n")
			if got := kernels(draw(t, c.graph)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// checkGroups fails unless every node that is needed is in a group and every
// group finds what it reads in itself or in groups before it.
func checkGroups(t *testing.T, g *Graph, groups []Group) {
	t.Helper()
	done := map[int]bool{}
	count := make([]int, len(g.Nodes))
	for _, grp := range groups {
		if len(grp.Nodes) == 0 || !slices.IsSorted(grp.Nodes) {
			t.Fatalf("group %v", grp)
		}
		if _, ok := LookupFusionRule(grp.Rule); !ok {
			t.Fatalf("no rule %q", grp.Rule)
		}
		for _, i := range grp.Nodes {
			count[i]++
			for _, r := range g.Nodes[i].In {
				if r.Node != nil && r.Node.Def != nil && !done[r.Node.Index] && !slices.Contains(grp.Nodes, r.Node.Index) {
					t.Fatalf("group %v reads node %d before it is computed\n%v", grp, r.Node.Index, groups)
				}
			}
		}
		for _, i := range grp.Nodes {
			done[i] = true
		}
	}
	for i, n := range g.Nodes {
		k := kindOf(n)
		if count[i] == 0 && k != isFree {
			t.Fatalf("node %d (%s) is in no group", i, n.Def.Name)
		}
		if count[i] > 1 && k != isFree && k != isLoop {
			t.Fatalf("node %d (%s) is in %d groups", i, n.Def.Name, count[i])
		}
	}
}

func randomGraph(r *rand.Rand, n int) *Graph {
	g := &Graph{}
	for range 3 {
		g.Inputs = append(g.Inputs, &Node{Outs: []shape.Spec{shape.Of(dtype.F32, 8, 8)}, Index: len(g.Inputs)})
	}
	dims := map[string][]int{"full": {8, 8}, "small": {8, 1}}
	for i := range n {
		pick := func(size string) Ref {
			for range 20 {
				var x *Node
				if k := r.IntN(i + 3); k < 3 {
					x = g.Inputs[k]
				} else if back := g.Nodes[k-3]; true {
					x = back
				}
				if shape.EqualDims(x.Outs[0].Dims, dims[size]) {
					return Ref{Node: x}
				}
			}
			if size == "full" {
				return Ref{Node: g.Inputs[0]}
			}
			return Ref{}
		}
		node := &Node{Index: i}
		out := "full"
		switch names := []string{"add", "exp", "matmul", "bmm", "sum", "expand", "gather", "cumsum", "t", "full", "cat", "softmax", "rsqrt", "add", "mul"}; names[r.IntN(len(names))] {
		case "add":
			node.Def, node.In = testDef("add"), []Ref{pick("full"), pick("full")}
		case "mul":
			node.Def, node.In = testDef("mul"), []Ref{pick("full"), pick("full")}
		case "exp":
			node.Def, node.In = testDef("exp"), []Ref{pick("full")}
		case "matmul":
			node.Def, node.In = testDef("matmul"), []Ref{pick("full"), pick("full")}
		case "bmm":
			node.Def, node.In = testDef("bmm"), []Ref{pick("full"), pick("full")}
		case "sum":
			node.Def, node.In, out = testDef("sum"), []Ref{pick("full")}, "small"
		case "expand":
			x := pick("small")
			if x.Node == nil {
				x = Ref{Node: g.Inputs[0]}
			}
			node.Def, node.In = testDef("expand"), []Ref{x}
		case "rsqrt":
			x := pick("small")
			if x.Node == nil {
				node.Def, node.In = testDef("exp"), []Ref{pick("full")}
				break
			}
			node.Def, node.In, out = testDef("rsqrt"), []Ref{x}, "small"
		case "gather":
			node.Def, node.In = testDef("gather"), []Ref{pick("full"), pick("full")}
		case "cumsum":
			node.Def, node.In = testDef("cumsum"), []Ref{pick("full")}
		case "t":
			node.Def, node.In = testDef("t"), []Ref{pick("full")}
		case "full":
			node.Def = testDef("full")
		case "cat":
			node.Def, node.In = testDef("cat"), []Ref{pick("full")}
		case "softmax":
			node.Def, node.In = testDef("softmax"), []Ref{pick("full")}
		}
		node.Outs = []shape.Spec{shape.Of(dtype.F32, dims[out]...)}
		g.Nodes = append(g.Nodes, node)
	}
	for range 1 + r.IntN(4) {
		g.Outputs = append(g.Outputs, Ref{Node: g.Nodes[r.IntN(n)]})
	}
	g.Outputs = append(g.Outputs, Ref{Node: g.Nodes[n-1]})
	return g
}

func TestFuseRandomGraphs(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		g := randomGraph(r, 1+r.IntN(40))
		if err := Check(g); err != nil {
			t.Fatal(err)
		}
		checkGroups(t, g, Fuse(g))
		checkGroups(t, g, Alone(g))
	}
}

func TestFuseRecordedPrograms(t *testing.T) {
	f, err := os.Open("testdata/fusion_v5e.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	right, all, near, n := 0, 0, 0, 0
	for s.Scan() {
		var c compiled
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		g, line, err := readHLO(c.Text)
		if err != nil {
			t.Fatalf("%s: %v", c.Program, err)
		}
		checkGroups(t, g, Fuse(g))
		r, a := score(g, line, c.Kernels, nil)
		if 10*r < 8*a {
			t.Errorf("%s: %d of %d edges as the compiler", c.Program, r, a)
		}
		right, all, n = right+r, all+a, n+1
		if d := countKernels(g) - c.Count; max(d, -d) <= 1 || 4*max(d, -d) <= c.Count {
			near++
		}
	}
	if n < 20 || 100*right < 96*all || 100*near < 75*n {
		t.Errorf("%d programs: %d of %d edges as the compiler, %d with as many kernels", n, right, all, near)
	}
}

func TestFuseScales(t *testing.T) {
	g := randomGraph(rand.New(rand.NewPCG(1, 2)), 10_000)
	checkGroups(t, g, Fuse(g))
}

func BenchmarkFuse1000(b *testing.B) {
	g := randomGraph(rand.New(rand.NewPCG(1, 2)), 1000)
	for b.Loop() {
		Fuse(g)
	}
}
