package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/shot"
)

// Shoot opens the screen where no terminal is, w columns by h rows, plays the
// steps and gives the screens that they ask for, the last one always.
func Shoot(ctx context.Context, o Options, w, h int, steps []shot.Step) ([]*shot.Screen, error) {
	var m *Model
	screens, err := shot.Play(ctx, shot.Options{
		New:   func(send func(tea.Msg)) tea.Model { m = New(o, send); return m },
		Width: w, Height: h, Steps: steps, NoColor: colourless(o.Theme.Name),
	})
	m.Close()
	return screens, err
}

// colourless says whether a theme is for terminals without colours.
func colourless(theme string) bool { return theme == "mono" || theme == "ascii" }
