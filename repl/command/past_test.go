package command_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
)

// answers plays lines and gives what each command answered; an error is its text.
func answers(t *testing.T, s *repl.Session, lines string) []string {
	t.Helper()
	var out []string
	var code strings.Builder
	flush := func() {
		if code.Len() == 0 {
			return
		}
		if c := s.Run(context.Background(), code.String(), "", 1, discard{}); c != nil && len(c.Reports) > 0 {
			out = append(out, c.Reports[0].Kind+": "+c.Reports[0].Message)
		}
		code.Reset()
	}
	for _, l := range strings.Split(strings.TrimSpace(lines), "\n") {
		l = strings.TrimSpace(l)
		switch {
		case l == "---":
			flush()
		case repl.IsCommand(l):
			flush()
			a, err := command.Run(context.Background(), s, l, discard{})
			if err != nil {
				out = append(out, err.Error())
			} else {
				out = append(out, a.Text)
			}
		default:
			code.WriteString(l + "\n")
		}
	}
	flush()
	return out
}

func TestLookingBack(t *testing.T) {
	for _, tt := range []struct {
		name, lines string
		want        []string // in each answer; several parts apart by |
	}{
		{"a variable as it was", `
			x := tpu.Ones(2)
			---
			for i := range 3 {
				x = x.Add(i)
			}
			:back
			:inspect x
			:back
			:inspect x
			:back 9
			:forward
			:forward 99
			:inspect x
			`, []string{"op #4 add|variables before it", "x as it was at op #4|[2 2]", "op #3", "x as it was at op #3|[1 1]", "start of recorded history|op #1 full", "op #2", "back in the present", "[4 4]"}},
		{"locals of functions", `
			func f(w *tpu.Tensor) *tpu.Tensor {
				h := w.Mul(10)
				return h.Add(1)
			}
			y := f(tpu.Ones(2))
			:back
			:inspect h
			:inspect w
			:inspect nope
			`, []string{"h|local", "[10 10]", "[1 1]", "no tensor variable"}},
		{"in-place writes keep what was", `
			x := tpu.Ones(2)
			---
			x.AddInPlace(5)
			---
			x.MulInPlace(2)
			:back
			:inspect x
			:inspect x@2
			:print x
			:print x@2
			`, []string{"op #3 mul", "[6 6]", "[1 1]", "[6 6]", "[1 1]"}},
		{"a view is seen through itself", `
			x := tpu.Arange(6).Reshape(2, 3)
			r := x.Index(1)
			---
			z := r.Add(1)
			:back
			:inspect r
			`, []string{"op #", "i32[3]|[3 4 5]"}},
		{"deferred values are computed beside the program", `
			:mode fuse
			x := tpu.Ones(2).Mul(3)
			y := x.Add(1)
			:back
			:inspect x
			:ops 1
			:forward
			:inspect y
			`, []string{"fuse", "not launched", "x as it was at op #3  f32[2]  recomputed|[3 3]", "queued", "present", "not computed yet: replayed beside the program|[4 4]"}},
		{"what fusion kept on chip is recomputed", `
			:mode fuse
			x := tpu.Ones(2)
			h := x.Mul(3)
			y := h.Add(1)
			h = nil
			fmt.Print(y)
			:back
			:inspect h
			:why y
			`, []string{"fuse", "in g1", "recomputed|[3 3]", "from|mul at In[1]:2|computed in g1|cut because"}},
		{"what is not kept", `
			:set history.ops 2
			x := tpu.Ones(2)
			y := x.Add(1).Add(2).Add(3)
			:ops
			:back #1
			:set history.ops 0
			z := y.Add(1)
			:back
			:ops
			`, []string{"history.ops = 2", "start of recorded history: 2 earlier", "op #1 is not recorded: #3 to #4 are", "history.ops = 0", "nothing is recorded", "history.ops is 0"}},
		{"freed and given up", `
			:set history.bytes 0
			x := tpu.Of(1.0, 2.0)
			---
			x = x.Add(1)
			---
			x = x.Add(1)
			:back
			:inspect x
			:back
			:inspect x
			`, []string{"history.bytes = 0", "op #2", "is freed: its numbers came from the host", "op #1", "is freed"}},
		{"the operation of an error", `
			a := tpu.Ones(2)
			b := a.Mul(3)
			:set donation on
			c := tpu.Ones(1 << 16, 1 << 16).Add(b.Sum())
			:why err
			`, []string{"donation", "oom", "oom"}},
		{"a region op by op", `
			:mode fuse
			x := tpu.Ones(2)
			h := x.Mul(3)
			y := h.Add(1)
			h = nil
			:inside
			fmt.Print(y)
			:inside
			:inside g1
			:inside #2
			:inside #9
			:inside g9
			`, []string{"fuse", "replaying the queue, op 3 of 3|#2|mul|#3|add", "replaying region g1 op 3 of 3", "full|mul|add", "replaying region g1 op 2 of 3: #2 mul|input x|[3 3]|result", "not recorded", "not remembered"}},
		{"filters", `
			x := tpu.Ones(2)
			y := x.Exp().Add(1).Mul(2)
			:ops 10 exp
			:ops nothing
			:ops 0
			:back x
			`, []string{"#2  exp", "none of the last 4", "no count", "no count"}},
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
