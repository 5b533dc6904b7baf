package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestDragTellsOnce: who drags to select is told how, once.
func TestDragTellsOnce(t *testing.T) {
	s := newScreen(t, 100, 30)
	move := tea.MouseMotionMsg{X: 5, Y: 5, Button: tea.MouseLeft}
	s.Update(move)
	s.want("hold Shift to select text", "F12")
	s.keys("x").lacks("hold Shift")
	s.Update(move)
	s.lacks("hold Shift")
}

// TestWheelScrollsThePager: what lies over the cells takes the wheel.
func TestWheelScrollsThePager(t *testing.T) {
	s := newScreen(t, 80, 12)
	s.keys(":keys", "enter").want("lines 1-7")
	s.Update(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	s.want("lines 2-9")
	s.Update(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	s.want("lines 1-7")
}
