package command_test

import (
	"strings"
	"testing"
)

func TestDiffAndUndo(t *testing.T) {
	for _, tt := range []struct {
		name, lines string
		want        []string
	}{
		{"two values", `
			x := tpu.Of(1.0, 2.0, 3.0, 4.0).Reshape(2, 2)
			y := x.Clone()
			y.SetIndex(2.0000002384185791, 0, 1)
			z := x.To(tpu.BF16)
			w := tpu.Ones(3)
			n := 3
			:diff x x
			:diff x y
			:diff x z
			:diff x w
			:diff x n
			:diff x nope
			:diff x
			:diff #1 x
			:diff y@4 y
			`, []string{"equal in all 4 elements", "1 of 4 elements differ|max 1 ulp of f32|first at [0,1]: 2 and 2.00000024", "equal in all 4 elements, as f32 and bf16", "different shapes", "n is no tensor but int", `no variable "nope"`, "two values are wanted", "#1  f32[2,2]|equal|#1 is recomputed", "differ"}},
		{"two modes", `
			x := tpu.Ones(4)
			---
			for i := range 3 {
				x = x.Mul(i + 2).Exp().Tanh()
			}
			fmt.Println("side effect")
			:diff --modes debug fuse
			:diff --modes debug compiled 2
			:diff --modes debug fuse In[1]
			:diff --modes debug wrong
			:diff --modes debug fuse 99
			:inspect x
			:mode
			`, []string{"In[2]: 9 ops in debug, 9 in fuse|9 results compared, all with equal bits", "9 results compared", "In[1]: 1 ops in debug", "unknown mode", "no such cell", "[1 1 1 1]", "debug:"}},
		{"programs that part", `
			x := tpu.Ones(2)
			---
			if tpu.Dispatcher().Mode().Name == "fuse" { x = x.Exp() } else { x = x.Neg() }
			:diff --modes debug fuse
			`, []string{"the programs part at op 1: neg|exp"}},
		{"an error in one mode only", `
			tab := tpu.Ones(3)
			i := tpu.I64.Of(7)
			---
			r := tab.IndexSelect(0, i).Sum()
			:diff --modes debug strict
			`, []string{"bounds", "in debug it fails: bounds"}},
		{"undo tensors and Go values", `
			x := tpu.Ones(2)
			a := []int{1, 2, 3}
			b := a[1:]
			m := map[string]int{"k": 1}
			type P struct{ N int; Next *P }
			p := &P{N: 1}
			p.Next = p
			s := "old"
			---
			x.AddInPlace(5)
			y := x.Mul(2)
			a[1] = 20
			b = append(b, 4)
			m["k"], m["new"] = 2, 3
			p.N = 7
			p.Next = nil
			s = "new"
			:undo
			fmt.Sprint(a, b, m, p.N, p.Next == p, s, x.Float64s())
			:inspect ans
			:inspect y
			`, []string{"before In[2]|restored   a b m p s x|forgotten  y", `[1 2 3] [2 3] map[k:1] 1 trueold[1 1]`, `no variable "y"`}},
		{"undo lists and interfaces", `
			type Node struct { N int; Next *Node; Kids []*Node; Any any }
			head := &Node{N: 1, Next: &Node{N: 2, Kids: []*Node{{N: 3}}}}
			head.Any = head.Next
			var any1 any = &Node{N: 9}
			q, f, t := 1.5, float32(2), "t"
			---
			head.Next.Kids[0].N = 30
			head.Next.N = 20
			any1.(*Node).N = 90
			q, f, t = 3, 4, "u"
			new1 := 1
			:undo
			fmt.Sprint(head.Next.Kids[0].N, head.Any.(*Node).N, any1.(*Node).N, q, f, t)
			:inspect ans
			:inspect new1
			:diff --modes debug fuse
			:inspect t
			`, []string{"before In[2]", "3 2 9 1.5 2t", "no variable", "0 ops in debug", "t"}},
		{"undo twice, then no more", `
			n := 1
			---
			n = 2
			---
			n = 3
			:undo
			:undo
			:inspect n
			:undo
			:undo
			:inspect n
			`, []string{"before In[3]", "before In[2]", "1", "before In[1]", "undo: ", "no variable"}},
		{"undo names and types", `
			v := 1
			func f() int { return v }
			---
			v := "text"
			func f() string { return "two" }
			---
			:undo
			f() + v
			:inspect ans
			`, []string{"before In[2]", "2  int"}},
		{"undo a training step", `
			w := tpu.Param("w", tpu.Ones(2))
			o := optim.NewAdam([]*tpu.Tensor{w}, optim.AdamOptions{LR: 0.1})
			loss := w.Mul(w).Sum()
			---
			loss.Backward()
			o.Step()
			w0 := w.Float64s()
			---
			:undo
			loss.Backward()
			o.Step()
			w1 := w.Float64s()
			:inspect w1
			`, []string{"before In[2]", "[0.9000000357627869 0.9000000357627869]"}},
		{"what cannot be undone", `
			ch := make(chan int, 3)
			rd := bufio.NewReader(os.Stdin)
			big := make([]float64, 1<<20)
			---
			ch <- 1
			big[0] = 1
			:undo
			:undo 3
			`, []string{"as it is   big: too large|as it is   ch: a channel keeps what was sent|as it is   rd: *bufio.Reader keeps its state|what was printed", "no argument"}},
		{"a failed cell can be undone", `
			k := []int{1}
			---
			k[0] = 2
			panic("no")
			---
			:undo
			:inspect k
			`, []string{"panic", "before In[2]", "[1]"}},
		{"random numbers are drawn again", `
			tpu.Seed(3)
			---
			r := tpu.Rand(2).Float64s()
			---
			keep := r
			:undo
			:undo
			r := tpu.Rand(2).Float64s()
			tpu.Seed(3)
			fmt.Sprint(r[0] == tpu.Rand(2).Float64s()[0])
			:inspect ans
			`, []string{"before In[3]", "before In[2]", "true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answers(t, session(t), tt.lines)
			if len(got) != len(tt.want) {
				t.Fatalf("%d answers, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n---\n"))
			}
			for i, want := range tt.want {
				for _, part := range strings.Split(want, "|") {
					if !strings.Contains(got[i], part) {
						t.Errorf("answer %d has no %q:\n%s", i, part, got[i])
					}
				}
			}
		})
	}
}
