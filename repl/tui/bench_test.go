package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// full makes a screen with n cells that ran.
func full(b testing.TB, n int) *screen {
	s := newScreen(b, 120, 36)
	for i := range n {
		c := s.nb.append(fmt.Sprintf("// step %d\nx%d := tpu.Randn(256, %d)\nw := tpu.Ones(256)\nh := x%d.MatMul(w).Add(b).GELU() // fused\nfor i := range 4 {\n\th = h.Mul(0.5)[i*64:(i+1)*64]\n}\nh.Sum(0)", i, i, 128+i%64, i))
		o := &output{kind: outResult}
		for r := range 10 {
			line := "[" + strings.Repeat(fmt.Sprintf(" %8.4f", float64(i*31+r)/97), 8) + " … ]"
			if i%17 == 0 {
				line = "日本語の出力 and 🚀 wide " + line
			}
			o.text.add([]string{line})
		}
		c.outputs, c.status, c.count = []*output{o}, okay, i+1
	}
	s.frame()
	return s
}

var sizes = []int{10, 1000, 10_000}

func BenchmarkKey(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := full(b, n)
			x, back := named("x"), named("backspace")
			for i := 0; b.Loop(); i++ {
				k := x
				if i%2 == 1 {
					k = back
				}
				s.Update(k)
				s.View()
			}
		})
	}
}

func BenchmarkAppendLine(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := full(b, n)
			c := s.nb.append("for { fmt.Println(1) }")
			j := &job{cell: c, feed: newFeed(nil, nil), cancel: func(error) {}}
			c.status, s.job = running, j
			for b.Loop() {
				j.feed.put(event{kind: outStdout, lines: []string{"a line of output with some numbers 12345"}}, 40)
				s.Update(outputMsg{j})
				s.View()
			}
		})
	}
}

func BenchmarkResize(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := full(b, n)
			for i := 0; b.Loop(); i++ {
				s.Update(tea.WindowSizeMsg{Width: 100 + i%40, Height: 30 + i%9})
				s.View()
			}
		})
	}
}

func BenchmarkKeyInLongCell(b *testing.B) {
	s := newScreen(b, 120, 36)
	s.input.Insert(strings.Repeat("\th = h.Mul(tpu.Of(0.5))[i*64:(i+1)*64] // step\n", 1000))
	x, back := named("x"), named("backspace")
	for i := 0; b.Loop(); i++ {
		k := x
		if i%2 == 1 {
			k = back
		}
		s.Update(k)
		s.View()
	}
}

func BenchmarkPaste5000(b *testing.B) {
	text := strings.Repeat("\th = h.Mul(tpu.Of(0.5))[i*64:(i+1)*64] // step\r", 5000)
	s := newScreen(b, 120, 36)
	for b.Loop() {
		s.input.Reset("")
		s.Update(tea.PasteMsg{Content: text})
		s.View()
	}
}

// BenchmarkFlood is a program that prints a million lines at full speed, and
// the screen that shows them.
func BenchmarkFlood(b *testing.B) {
	b.Setenv("TMPDIR", b.TempDir())
	for b.Loop() {
		s := newScreen(b, 120, 36)
		c := s.nb.append("loop")
		j := &job{cell: c, feed: newFeed(nil, nil), cancel: func(error) {}}
		c.status, s.job = running, j
		chunk := strings.Repeat("a line of output with some numbers 12345\n", 800)
		for range 1_000_000 / 800 {
			j.feed.stream(streamOf(chunk))
			if j.feed.bytes > feedBytes/2 {
				s.Update(outputMsg{j})
				s.View()
			}
		}
		s.Update(outputMsg{j})
		s.View()
		if n := c.outputs[0].text.len(); n != 1_000_000 {
			b.Fatal(n)
		}
	}
}
