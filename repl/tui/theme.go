package tui

import (
	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/viz"
)

// A Theme is the colours and letters of the screen. Strings are parameters of
// SGR, "" for none; every colour stands beside a word or a letter that says the
// same without it.
type Theme struct {
	Name string
	Doc  string
	Viz  viz.Theme

	Tokens                              [edit.NumTokens]string
	In, Out, Err, Brk, Stale, Dim, Note string
	Rule, Bar, BarHot, Key              string
	Select, Match, Popup, PopupItem     string
	Mistake                             string
	OK, Wait, Bad, Cursor, Title        string

	// Letters, one cell wide each.
	Bar1, Break, Stop, Wrap, Cross, More string
}

// Themes lists the themes.
func Themes() []Theme {
	dark := Theme{
		Name: "dark", Doc: "for a dark background", Viz: viz.Dark(),
		Tokens: [edit.NumTokens]string{
			edit.Keyword: "38;5;204", edit.Predeclared: "38;5;81", edit.String: "38;5;186", edit.Number: "38;5;141",
			edit.Comment: "38;5;245", edit.Call: "38;5;149", edit.Operator: "38;5;209", edit.Command: "1;38;5;80",
		},
		In: "1;38;5;75", Out: "1;38;5;114", Err: "1;38;5;203", Brk: "1;38;5;215", Stale: "38;5;215", Dim: "38;5;245", Note: "38;5;80",
		Rule: "38;5;240", Bar: "38;5;253;48;5;236", BarHot: "1;38;5;16;48;5;215", Key: "1;38;5;253",
		Select: "48;5;239", Match: "1;48;5;238", Mistake: "4;38;5;203", Popup: "38;5;252;48;5;236", PopupItem: "1;38;5;231;48;5;25",
		OK: "38;5;114", Wait: "38;5;215", Bad: "1;38;5;203", Cursor: "7", Title: "1;38;5;253",
		Bar1: "▌", Break: "●", Stop: "▶", Wrap: "↳", Cross: "×", More: "…",
	}
	light := dark
	light.Name, light.Doc, light.Viz = "light", "for a light background", viz.Light()
	light.Tokens = [edit.NumTokens]string{
		edit.Keyword: "38;5;125", edit.Predeclared: "38;5;25", edit.String: "38;5;94", edit.Number: "38;5;91",
		edit.Comment: "38;5;244", edit.Call: "38;5;28", edit.Operator: "38;5;166", edit.Command: "1;38;5;30",
	}
	light.In, light.Out, light.Err, light.Brk, light.Stale, light.Dim, light.Note = "1;38;5;26", "1;38;5;28", "1;38;5;160", "1;38;5;130", "38;5;130", "38;5;243", "38;5;30"
	light.Rule, light.Bar, light.BarHot, light.Key = "38;5;250", "38;5;235;48;5;254", "1;38;5;231;48;5;130", "1;38;5;235"
	light.Select, light.Match, light.Popup, light.PopupItem = "48;5;252", "1;48;5;252", "38;5;235;48;5;255", "1;38;5;231;48;5;26"
	light.Mistake = "4;38;5;160"
	light.OK, light.Wait, light.Bad, light.Title = "38;5;28", "38;5;130", "1;38;5;160", "1;38;5;235"

	mono := dark
	mono.Name, mono.Doc, mono.Viz = "mono", "no colour: bold, dim and reverse alone", viz.Mono()
	mono.Tokens = [edit.NumTokens]string{edit.Keyword: "1", edit.Comment: "2", edit.Command: "1"}
	mono.In, mono.Out, mono.Err, mono.Brk, mono.Stale, mono.Dim, mono.Note = "1", "1", "1;7", "1;7", "1", "2", "1"
	mono.Rule, mono.Bar, mono.BarHot, mono.Key = "2", "7", "1;7", "1"
	mono.Select, mono.Match, mono.Popup, mono.PopupItem = "7", "1;4", "", "7"
	mono.Mistake = "4"
	mono.OK, mono.Wait, mono.Bad, mono.Title = "", "", "1", "1"

	high := dark
	high.Name, high.Doc, high.Viz = "high-contrast", "white on black, few strong colours", viz.HighContrast()
	high.Tokens = [edit.NumTokens]string{
		edit.Keyword: "1;97", edit.Predeclared: "96", edit.String: "93", edit.Number: "95", edit.Comment: "37", edit.Call: "92", edit.Operator: "97", edit.Command: "1;96",
	}
	high.In, high.Out, high.Err, high.Brk, high.Stale, high.Dim, high.Note = "1;96", "1;92", "1;97;41", "1;30;103", "1;93", "37", "96"
	high.Rule, high.Bar, high.BarHot, high.Key = "97", "1;30;107", "1;30;103", "1;97"
	high.Select, high.Match, high.Popup, high.PopupItem = "30;107", "1;30;103", "97;40", "1;30;106"
	high.Mistake = "4;97;41"
	high.OK, high.Wait, high.Bad, high.Title = "92", "93", "1;97;41", "1;97"

	ascii := mono
	ascii.Name, ascii.Doc, ascii.Viz = "ascii", "no colour, no letters beyond ASCII", viz.Plain()
	ascii.Bar1, ascii.Break, ascii.Stop, ascii.Wrap, ascii.Cross, ascii.More = "|", "o", ">", ">", "x", "~"
	return []Theme{dark, light, mono, high, ascii}
}

// ThemeNamed finds a theme.
func ThemeNamed(name string) (Theme, bool) {
	for _, t := range Themes() {
		if t.Name == name {
			return t, true
		}
	}
	return Theme{}, false
}

// paint gives s in a colour.
func paint(sgr, s string) string {
	if sgr == "" || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// setTheme changes the colours of the screen.
func (m *Model) setTheme(t Theme) {
	m.theme = t
	m.themeID++
}

// background chooses between dark and light once the terminal has told.
func (m *Model) background(dark bool) {
	if t, ok := ThemeNamed("light"); ok && !dark && m.opts.AskTheme {
		m.setTheme(t)
	}
}
