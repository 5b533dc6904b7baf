// Package shot plays keys to the screen of tpush without a terminal and draws
// what it shows, for pictures in documents and for tests.
//
// The program that runs is the one a terminal gets; only its last step, the
// bytes to a terminal, is replaced by an emulator that reads a frame. It knows
// no model: it is given one. It imports nothing of this module. Invariant: it
// waits for what the screen waits for and never for time, so the same keys
// give the same picture.
package shot

import (
	"context"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Settled is sent to the model, which calls Reply with its view as soon as
// nothing that it asked for is still to come: no cell runs, no answer of the
// kernel is awaited.
type Settled struct{ Reply func(tea.View) }

// Options say what to play.
type Options struct {
	// New makes the model; send is how it sends itself messages from elsewhere.
	New           func(send func(tea.Msg)) tea.Model
	Width, Height int
	Steps         []Step
	NoColor       bool
}

// An EndedError says that the program ended before all keys were played.
type EndedError struct {
	Step int // that was not played, from 0
	Err  error
}

// Error gives the step and the cause.
func (e *EndedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("the screen ended at step %d: %v", e.Step+1, e.Err)
	}
	return fmt.Sprintf("the screen ended at step %d", e.Step+1)
}

// Unwrap gives the cause.
func (e *EndedError) Unwrap() error { return e.Err }

// Play runs the model, plays the steps and gives the screens that the steps
// ask for, the last one always. The error is an *EndedError, or why ctx ended.
func Play(ctx context.Context, o Options) ([]*Screen, error) {
	profile := colorprofile.TrueColor
	if o.NoColor {
		profile = colorprofile.ASCII
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var p *tea.Program
	model := o.New(func(m tea.Msg) { p.Send(m) })
	sized := make(chan struct{})
	var once sync.Once
	noticed := func(_ tea.Model, m tea.Msg) tea.Msg {
		if _, ok := m.(tea.WindowSizeMsg); ok {
			once.Do(func() { close(sized) })
		}
		return m
	}
	p = tea.NewProgram(model, tea.WithContext(ctx), tea.WithFilter(noticed), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(),
		tea.WithoutSignals(), tea.WithWindowSize(o.Width, o.Height), tea.WithColorProfile(profile), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
		close(ended)
	}()
	pl := &player{p: p, ended: ended, w: o.Width, h: o.Height}
	// The program tells the model its first size when it comes to it: a step
	// before would see none, and one that resizes would be undone.
	select {
	case <-sized:
	case err := <-ended:
		return nil, &EndedError{Err: err}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var screens []*Screen
	for i, s := range o.Steps {
		var err error
		switch {
		case s.Size[0] > 0:
			pl.w, pl.h = s.Size[0], s.Size[1]
			p.Send(tea.WindowSizeMsg{Width: pl.w, Height: pl.h})
			_, err = pl.settle(ctx)
		case s.Wait:
			_, err = pl.settle(ctx)
		case s.Shot:
			var v tea.View
			v, err = pl.settle(ctx)
			if err == nil {
				screens = append(screens, pl.screen(v, o.NoColor))
			}
		default:
			p.Send(s.Msg)
			if s.Settle {
				_, err = pl.settle(ctx)
			}
		}
		if err != nil {
			return screens, endedAt(i, err)
		}
	}
	v, err := pl.settle(ctx)
	if err != nil {
		return screens, endedAt(len(o.Steps), err)
	}
	screens = append(screens, pl.screen(v, o.NoColor))
	cancel()
	<-ended
	return screens, nil
}

func endedAt(step int, err error) error {
	if e, ok := err.(*EndedError); ok {
		e.Step = step
	}
	return err
}

type player struct {
	p     *tea.Program
	ended <-chan error
	w, h  int
}

// settle waits until the model has nothing left to wait for.
func (pl *player) settle(ctx context.Context) (tea.View, error) {
	views := make(chan tea.View, 1)
	pl.p.Send(Settled{func(v tea.View) { views <- v }})
	select {
	case v := <-views:
		return v, nil
	case err := <-pl.ended:
		return tea.View{}, &EndedError{Err: err}
	case <-ctx.Done():
		return tea.View{}, context.Cause(ctx)
	}
}

func (pl *player) screen(v tea.View, plain bool) *Screen {
	s := NewScreen(v.Content, pl.w, pl.h, plain)
	if v.Cursor != nil {
		s.CursorX, s.CursorY, s.Cursor = v.Cursor.X, v.Cursor.Y, true
	}
	return s
}
