package graph

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// The programs here were compiled by the real compiler; the record says which
// source lines each of its kernels holds. Reading their StableHLO into a graph
// gives the rules something to be right or wrong about.

// A compiled is a program and, per kernel, the source lines inside.
type compiled struct {
	Program string  `json:"program"`
	Text    string  `json:"text"`
	Kernels [][]int `json:"kernels"`
	Count   int     `json:"count"` // kernels of the whole program
}

// hloDefs classes the StableHLO operations of the programs.
func hloDef(name string) *op.Def {
	d := &op.Def{Name: op.Name(name), Class: op.Elementwise}
	switch name {
	case "constant", "iota":
		d.Class = op.Factory
	case "broadcast_in_dim", "reshape", "slice":
		d.Class, d.Traits = op.View, op.MetadataOnly
	case "transpose":
		d.Class, d.Traits = op.View, op.MetadataOnly
		d.View = func(v shape.View, _ op.Attrs) (shape.View, error) {
			return shape.View{Dims: []int{2, 2}, Strides: []int{1, 2}}, nil
		}
	case "reduce":
		d.Class = op.Reduce
	case "dot_general", "convolution":
		d.Class = op.Contract
		d.Cost = func(in, out []shape.Spec, _ op.Attrs) op.Cost {
			c := op.Cost{M: 1, N: 1, K: 1, B: 1}
			if len(out[0].Dims) > 2 && len(in) > 1 && len(in[1].Dims) > 2 && name == "dot_general" {
				c.B = 2
			}
			return c
		}
	case "concatenate":
		d.Class, d.Name = op.Move, "cat"
	case "gather", "scatter", "sort", "while", "case", "custom_call", "dynamic_slice", "dynamic_update_slice", "pad", "reverse",
		"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "reduce_window", "rng_bit_generator", "cholesky", "triangular_solve", "top_k", "optimization_barrier":
		d.Class = op.Index
	}
	return d
}

var (
	hloLine = regexp.MustCompile(`^\s*(%[\w#]+)(?::(\d+))? = "?(?:stablehlo|chlo|mhlo|sdy)\.(\w+)"?(.*)$`)
	hloType = regexp.MustCompile(`tensor<([^>]*)>`)
	hloName = regexp.MustCompile(`%[\w]+(?:#\d+)?`)
	hloArg  = regexp.MustCompile(`(%arg\d+): tensor<([^>]*)>`)
)

func hloSpec(t string) shape.Spec {
	p := strings.Split(t, "x")
	s := shape.Spec{DType: dtype.F32}
	if d, ok := dtype.Parse(p[len(p)-1]); ok {
		s.DType = d
	}
	for _, x := range p[:len(p)-1] {
		n, _ := strconv.Atoi(x)
		s.Dims = append(s.Dims, n)
	}
	return s
}

// readHLO makes a graph of a program; line says which source line each node is. Loops and calls are refused.
func readHLO(text string) (g *Graph, line []int, err error) {
	g = &Graph{}
	values := map[string]Ref{}
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); at++ {
		l := lines[at]
		if strings.Contains(l, "func.func") {
			if len(g.Inputs) > 0 {
				return nil, nil, fmt.Errorf("second function")
			}
			for _, m := range hloArg.FindAllStringSubmatch(l, -1) {
				n := &Node{Outs: []shape.Spec{hloSpec(m[2])}, Index: len(g.Inputs)}
				g.Inputs = append(g.Inputs, n)
				values[m[1]] = Ref{Node: n}
			}
			continue
		}
		if t := strings.TrimSpace(l); strings.HasPrefix(t, "return ") || strings.HasPrefix(t, "func.return") {
			for _, v := range hloName.FindAllString(strings.Split(l, " : ")[0], -1) {
				g.Outputs = append(g.Outputs, values[v])
			}
			return g, line, nil
		}
		m := hloLine.FindStringSubmatch(l)
		if m == nil {
			if strings.Contains(l, " = stablehlo.") || strings.Contains(l, " = \"stablehlo.") {
				return nil, nil, fmt.Errorf("line %d: %s", at+1, l)
			}
			continue
		}
		if m[3] == "while" || m[3] == "case" {
			return nil, nil, fmt.Errorf("line %d: control flow", at+1)
		}
		here := at + 1
		rest := m[4]
		operands := rest
		if strings.Contains(rest, "({") || m[3] == "reduce" && !strings.Contains(rest, " applies ") {
			for at++; at < len(lines) && !strings.Contains(lines[at], "}) ") && !strings.HasPrefix(strings.TrimSpace(lines[at]), "} :") && !strings.Contains(lines[at], "}) :"); at++ {
				if m[3] == "reduce" && strings.TrimSpace(lines[at]) == "}" {
					break
				}
			}
			if m[3] != "reduce" {
				rest = lines[at]
			}
		}
		if i := strings.LastIndex(operands, " : "); i >= 0 {
			operands = operands[:i]
		}
		types := rest
		if i := strings.LastIndex(rest, "->"); i >= 0 {
			types = rest[i:]
		}
		found := hloType.FindAllStringSubmatch(types, -1)
		if len(found) == 0 {
			return nil, nil, fmt.Errorf("line %d: no type: %s", here, l)
		}
		n := &Node{Def: hloDef(m[3]), Index: len(g.Nodes)}
		count := 1
		if m[2] != "" {
			count, _ = strconv.Atoi(m[2])
		}
		for _, t := range found[len(found)-count:] {
			n.Outs = append(n.Outs, hloSpec(t[1]))
		}
		for _, v := range hloName.FindAllString(operands, -1) {
			if r, ok := values[v]; ok {
				n.In = append(n.In, r)
			}
		}
		g.Nodes = append(g.Nodes, n)
		line = append(line, here)
		for i := range count {
			values[m[1]] = Ref{Node: n}
			values[m[1]+"#"+strconv.Itoa(i)] = Ref{Node: n, Out: i}
		}
	}
	return nil, nil, fmt.Errorf("no return")
}

// score compares edges: producer to consumer, free operations skipped, both
// seen in the record. It gives how many agree, of how many.
func score(g *Graph, line []int, kernels [][]int, report func(from, to int, fused bool)) (right, all int) {
	truth := map[int]map[int]bool{}
	for k, ls := range kernels {
		for _, l := range ls {
			if truth[l] == nil {
				truth[l] = map[int]bool{}
			}
			truth[l][k] = true
		}
	}
	groups := Fuse(g)
	mine := make([]map[int]bool, len(g.Nodes))
	for k, grp := range groups {
		for _, i := range grp.Nodes {
			if mine[i] == nil {
				mine[i] = map[int]bool{}
			}
			mine[i][k] = true
		}
	}
	share := func(a, b map[int]bool) bool {
		for k := range a {
			if b[k] {
				return true
			}
		}
		return false
	}
	for i, n := range g.Nodes {
		if kindOf(n) == isFree || truth[line[i]] == nil {
			continue
		}
		seen := map[int]bool{}
		for _, r := range n.In {
			for r.Node != nil && r.Node.Def != nil && kindOf(r.Node) == isFree && len(r.Node.In) > 0 {
				r = r.Node.In[0]
			}
			if r.Node == nil || r.Node.Def == nil || kindOf(r.Node) == isFree || truth[line[r.Node.Index]] == nil || seen[r.Node.Index] {
				continue
			}
			p := r.Node.Index
			seen[p] = true
			want := share(truth[line[p]], truth[line[i]])
			all++
			if share(mine[p], mine[i]) == want {
				right++
			} else if report != nil {
				report(p, i, want)
			}
		}
	}
	return right, all
}

// countKernels leaves out the operations of the scalar core.
func countKernels(g *Graph) int {
	n := 0
	for _, grp := range Fuse(g) {
		if grp.Kind != "scalar" {
			n++
		}
	}
	return n
}

// sharedFolder finds a folder of recordings beside the checkout, "" when there is none.
func sharedFolder(parts ...string) string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		p := filepath.Join(append([]string{dir, "shared"}, parts...)...)
		if _, err := os.Stat(p); err == nil {
			return p
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// recorded reads the programs of one generation.
func recorded(t *testing.T, dir, gen string) []compiled {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "programs_"+gen+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []compiled
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var r struct {
			Program, Mlir string
			Kernels       int `json:"n_kernels"`
			Instrs        []struct {
				Op, Name string
				Src      [][2]any
			}
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, r.Mlir))
		if err != nil || r.Mlir == "" {
			continue
		}
		c := compiled{Program: r.Program, Text: string(text), Count: r.Kernels}
		for _, i := range r.Instrs {
			var k []int
			for _, p := range i.Src {
				k = append(k, int(p[0].(float64)))
			}
			if len(k) > 0 {
				c.Kernels = append(c.Kernels, k)
			}
		}
		all = append(all, c)
	}
	return all
}

func TestFuseAgreesWithTheCompiler(t *testing.T) {
	dir := sharedFolder("calibration")
	if dir == "" {
		t.Skip("no recordings beside the checkout")
	}
	for _, gen := range []string{"v5e", "v5p", "v6e", "tpu7x"} {
		t.Run(gen, func(t *testing.T) {
			right, all, clean, programs, counts := 0, 0, 0, 0, 0
			for _, c := range recorded(t, dir, gen) {
				g, line, err := readHLO(c.Text)
				if err != nil {
					t.Logf("%s: %v", c.Program, err)
					continue
				}
				var wrong []string
				r, a := score(g, line, c.Kernels, func(p, i int, want bool) {
					verb := "fuses"
					if want {
						verb = "splits"
					}
					wrong = append(wrong, fmt.Sprintf("%s %d %s→%d %s", verb, line[p], g.Nodes[p].Def.Name, line[i], g.Nodes[i].Def.Name))
				})
				right, all, programs = right+r, all+a, programs+1
				n := countKernels(g)
				if d := n - c.Count; max(d, -d) <= 1 || 4*max(d, -d) <= c.Count {
					counts++
				} else {
					t.Logf("%s: %d kernels, compiler has %d", c.Program, n, c.Count)
				}
				if r == a {
					clean++
				} else {
					t.Logf("%s: %d of %d: %s", c.Program, r, a, strings.Join(wrong, "; "))
				}
			}
			if 100*right < 94*all || 100*counts < 70*programs {
				t.Errorf("fewer agree than when the rules were written: 94 %% of edges, 70 %% of counts")
			}
			t.Logf("%d of %d edges, %.1f %%; %d of %d programs without an error, %d with as many kernels", right, all, 100*float64(right)/float64(all), clean, programs, counts)
		})
	}
}
