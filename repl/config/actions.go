package config

// A Context is where a key is typed. Keys of one panel win over those of every
// panel, and keys of a context over global ones.
type Context string

// The contexts.
const (
	Global Context = "global" // everywhere
	Editor Context = "editor" // typing a cell
	Cells  Context = "cells"  // cell mode: letters are actions
	Popup  Context = "popup"  // a list is open: completion, palette, history
	Panel  Context = "panel"  // any panel has the focus

	// One panel has the focus; the values are the names of the panels.
	HBM      Context = "hbm"
	Vars     Context = "vars"
	Fusion   Context = "fusion"
	Trace    Context = "trace"
	Graph    Context = "graph"
	Roofline Context = "roofline"
	Events   Context = "events"
	Cache    Context = "cache"
	XLA      Context = "xla"
	Debug    Context = "debug"
	Help     Context = "help"
)

// Contexts lists the contexts in the order of :keys.
func Contexts() []Context {
	return append([]Context{Global, Editor, Cells, Popup, Panel}, Panels()...)
}

// Panels lists the contexts of a single panel.
func Panels() []Context {
	return []Context{HBM, Vars, Fusion, Trace, Graph, Roofline, Events, Cache, XLA, Debug, Help}
}

// An Action is something a key can do. Its name is what [keys] and the palette
// call it; keys are in the notation of the terminal library ("ctrl+r"), a
// sequence has a space between them ("d d").
type Action struct {
	Name    string
	Context Context
	Keys    []string
	Doc     string
}

// actions is the table of everything a key can do.
var actions = []Action{
	{"run", Editor, []string{"enter"}, "run the cell when it is whole, else a new line"},
	{"newline", Editor, []string{"alt+enter", "ctrl+j", "shift+enter"}, "a new line"},
	{"run-as-is", Editor, []string{"f8", "ctrl+enter"}, "run the cell without looking whether it is whole"},
	{"cell-mode", Editor, []string{"esc"}, "leave typing: letters act on cells"},
	{"complete", Editor, []string{"tab"}, "complete the word, or indent at the start of a line"},
	{"unindent", Editor, []string{"shift+tab"}, "take one indent away"},
	{"history", Editor, []string{"ctrl+r"}, "search the history"},
	{"up", Editor, []string{"up", "ctrl+up"}, "a line up, at the top the history"},
	{"down", Editor, []string{"down", "ctrl+down"}, "a line down, at the bottom the history"},
	{"left", Editor, []string{"left", "ctrl+b"}, "a letter left"},
	{"right", Editor, []string{"right", "ctrl+f"}, "a letter right"},
	{"word-left", Editor, []string{"alt+b", "ctrl+left"}, "a word left"},
	{"word-right", Editor, []string{"alt+f", "ctrl+right"}, "a word right"},
	{"line-start", Editor, []string{"home", "ctrl+a"}, "to the start of the line"},
	{"line-end", Editor, []string{"end", "ctrl+e"}, "to the end of the line"},
	{"delete-left", Editor, []string{"backspace", "ctrl+h"}, "delete the letter to the left"},
	{"delete-right", Editor, []string{"delete"}, "delete the letter to the right"},
	{"delete-word-left", Editor, []string{"ctrl+w", "alt+backspace"}, "cut the word to the left"},
	{"delete-word-right", Editor, []string{"alt+d"}, "cut the word to the right"},
	{"kill-line", Editor, []string{"ctrl+k"}, "cut to the end of the line"},
	{"kill-start", Editor, []string{"ctrl+u"}, "cut to the start of the line"},
	{"yank", Editor, []string{"ctrl+y"}, "put back what was cut"},
	{"undo", Editor, []string{"ctrl+z", "ctrl+_"}, "undo typing"},
	{"redo", Editor, []string{"alt+z"}, "redo typing"},
	{"external-editor", Editor, []string{"alt+e"}, "open the cell in $VISUAL or $EDITOR"},
	{"yank-before", Editor, []string{"alt+y"}, "put back what was cut before that instead"},
	{"cut", Editor, []string{"ctrl+x"}, "cut the selection, to the clipboard too"},
	{"copy", Editor, []string{"alt+w"}, "copy the selection to the clipboard"},
	{"comment", Editor, []string{"alt+/"}, "make the lines comments, or take it away"},
	{"text-start", Editor, []string{"alt+<"}, "to the start of the text"},
	{"text-end", Editor, []string{"alt+>"}, "to the end of the text"},
	{"select-left", Editor, []string{"shift+left"}, "select a letter to the left"},
	{"select-right", Editor, []string{"shift+right"}, "select a letter to the right"},
	{"select-up", Editor, []string{"shift+up"}, "select a line up"},
	{"select-down", Editor, []string{"shift+down"}, "select a line down"},
	{"select-word-left", Editor, []string{"ctrl+shift+left"}, "select a word to the left"},
	{"select-word-right", Editor, []string{"ctrl+shift+right"}, "select a word to the right"},
	{"select-line-start", Editor, []string{"shift+home"}, "select to the start of the line"},
	{"select-line-end", Editor, []string{"shift+end"}, "select to the end of the line"},
	{"select-all", Editor, []string{"alt+a"}, "select the whole text"},
	{"exit", Editor, []string{"ctrl+d"}, "leave when nothing is typed, else delete to the right"},

	{"keys", Cells, []string{"?"}, "every key and what it does"},
	{"edit", Cells, []string{"enter", "e"}, "type in the cell"},
	{"type", Cells, []string{"esc", "i"}, "back to the prompt"},
	{"cell-down", Cells, []string{"j", "down"}, "the next cell"},
	{"cell-up", Cells, []string{"k", "up"}, "the cell before"},
	{"cell-first", Cells, []string{"g", "home"}, "the first cell"},
	{"cell-last", Cells, []string{"G", "end"}, "the last cell"},
	{"cell-run", Cells, []string{"r"}, "run the cell"},
	{"run-from-here", Cells, []string{"R"}, "run this cell and those after it, up to a failure"},
	{"run-all", Cells, []string{"A"}, "run all cells, up to a failure"},
	{"run-stale", Cells, []string{"s"}, "run the cells whose inputs changed, in order"},
	{"insert-above", Cells, []string{"a"}, "a new cell above"},
	{"insert-below", Cells, []string{"b"}, "a new cell below"},
	{"cell-delete", Cells, []string{"d d"}, "delete the cell"},
	{"cell-undo", Cells, []string{"u"}, "undo the last change of cells"},
	{"cell-redo", Cells, []string{"U"}, "redo it"},
	{"move-down", Cells, []string{"J"}, "move the cell down"},
	{"move-up", Cells, []string{"K"}, "move the cell up"},
	{"split", Cells, []string{"S"}, "split the cell where its cursor was"},
	{"merge", Cells, []string{"M"}, "merge with the cell below"},
	{"fold", Cells, []string{"z"}, "fold the cell, or show all of its output"},
	{"form", Cells, []string{"t"}, "its tensor in another form: numbers, heat map, histogram, line"},
	{"show-output", Cells, []string{"o"}, "all of its output, on the whole screen"},
	{"duplicate", Cells, []string{"p"}, "a copy of the cell below it"},
	{"leave", Cells, []string{"ctrl+d"}, "leave"},
	{"copy-cell", Cells, []string{"y"}, "copy the cell to the clipboard"},
	{"copy-output", Cells, []string{"Y"}, "copy its output to the clipboard"},
	{"clear-output", Cells, []string{"c"}, "clear its output"},
	{"command", Cells, []string{":"}, "type a command"},
	{"debug-rerun", Cells, []string{"D"}, "run the cell again in debug mode"},

	{"accept", Popup, []string{"enter"}, "take the entry"},
	{"next", Popup, []string{"tab", "down", "ctrl+n"}, "the next entry"},
	{"previous", Popup, []string{"shift+tab", "up", "ctrl+p"}, "the entry before"},
	{"page-down", Popup, []string{"pgdown"}, "a page of entries down"},
	{"page-up", Popup, []string{"pgup"}, "a page of entries up"},
	{"close", Popup, []string{"esc", "ctrl+g"}, "close the list"},

	{"leave-panel", Panel, []string{"esc", "q"}, "give the focus back to the cells"},
	{"row-up", Panel, []string{"up", "k"}, "one row up"},
	{"row-down", Panel, []string{"down", "j"}, "one row down"},
	{"row-page-up", Panel, []string{"pgup"}, "a page of rows up"},
	{"row-page-down", Panel, []string{"pgdown"}, "a page of rows down"},
	{"row-top", Panel, []string{"home", "g"}, "the first row"},
	{"row-bottom", Panel, []string{"end", "G"}, "the last row"},

	{"hbm-choose", HBM, []string{"enter"}, "select the block and show its line"},
	{"hbm-view", HBM, []string{"v"}, "owners by line, blocks by address, or names and what :free gives"},
	{"hbm-sort", HBM, []string{"s"}, "sort by size, padding or place"},
	{"hbm-free", HBM, []string{"f"}, "free the name under the cursor"},

	{"vars-choose", Vars, []string{"enter"}, "select what made the variable and show its line"},
	{"vars-inspect", Vars, []string{"i"}, "inspect the variable in the notebook"},
	{"vars-sort", Vars, []string{"s"}, "sort by name, HBM or cell"},
	{"vars-filter", Vars, []string{"/"}, "show only what matches"},

	{"fusion-choose", Fusion, []string{"enter"}, "select the group and list its ops; select an op and show its line"},
	{"fusion-back", Fusion, []string{"backspace"}, "back to the groups"},
	{"fusion-fold", Fusion, []string{"f"}, "fold the turns of a loop into one row, or show each"},
	{"fusion-why", Fusion, []string{"?"}, "explain the group in the notebook"},
	{"fusion-filter", Fusion, []string{"/"}, "show only what matches"},

	{"trace-left", Trace, []string{"left"}, "the slice before"},
	{"trace-right", Trace, []string{"right"}, "the next slice"},
	{"trace-up", Trace, []string{"up"}, "the lane above"},
	{"trace-down", Trace, []string{"down"}, "the lane below"},
	{"trace-zoom-in", Trace, []string{"w"}, "half the time, around the slice"},
	{"trace-zoom-out", Trace, []string{"s"}, "twice the time"},
	{"trace-pan-left", Trace, []string{"a"}, "earlier"},
	{"trace-pan-right", Trace, []string{"d"}, "later"},
	{"trace-all", Trace, []string{"0"}, "everything that was recorded"},
	{"trace-cell", Trace, []string{"c"}, "the cell of the slice, or the last that used the device"},
	{"trace-find", Trace, []string{"/"}, "search"},
	{"trace-next", Trace, []string{"n"}, "search on"},
	{"trace-previous", Trace, []string{"N"}, "search back"},
	{"trace-choose", Trace, []string{"enter"}, "select the op and show its line"},
	{"trace-mark", Trace, []string{"m"}, "put a mark at the present moment"},
	{"trace-export", Trace, []string{"e"}, "write the recording for another tool"},

	{"graph-left", Graph, []string{"left"}, "the node to the left"},
	{"graph-right", Graph, []string{"right"}, "the node to the right"},
	{"graph-up", Graph, []string{"up"}, "the nearest node above"},
	{"graph-down", Graph, []string{"down"}, "the nearest node below"},
	{"graph-pan-left", Graph, []string{"a"}, "move the window left"},
	{"graph-pan-right", Graph, []string{"d"}, "move the window right"},
	{"graph-pan-up", Graph, []string{"w"}, "move the window up"},
	{"graph-pan-down", Graph, []string{"s"}, "move the window down"},
	{"graph-earlier", Graph, []string{"["}, "the group before"},
	{"graph-later", Graph, []string{"]"}, "the next group"},
	{"graph-latest", Graph, []string{"0"}, "follow the latest group"},
	{"graph-group", Graph, []string{"g"}, "the program of a group"},
	{"graph-choose", Graph, []string{"enter"}, "select the op and show its line"},

	{"roofline-choose", Roofline, []string{"enter"}, "select the kernel's last op and show its line"},

	{"events-choose", Events, []string{"enter"}, "select what the event is about and show its line"},
	{"events-filter", Events, []string{"/"}, "show only what matches"},

	{"cache-choose", Cache, []string{"enter"}, "select the group that ran the program last"},
	{"cache-filter", Cache, []string{"/"}, "show only what matches"},

	{"xla-choose", XLA, []string{"enter"}, "select the kernel's last op and show its line"},
	{"xla-view", XLA, []string{"v"}, "kernels, layouts, memory or VLIW slots"},
	{"xla-earlier", XLA, []string{"["}, "the program before"},
	{"xla-later", XLA, []string{"]"}, "the next program"},

	{"debug-part", Debug, []string{"tab"}, "stack, locals, watches or breakpoints"},
	{"debug-choose", Debug, []string{"enter"}, "go to the frame, or select what the row stands for"},
	{"debug-delete", Debug, []string{"d"}, "clear the breakpoint or the watch"},
	{"debug-watch", Debug, []string{"w"}, "show a value at each stop"},
	{"debug-break", Debug, []string{"b"}, "set a breakpoint"},

	{"help-choose", Help, []string{"enter"}, "the page of the command, in the notebook"},
	{"help-filter", Help, []string{"/"}, "search commands and keys"},

	{"interrupt", Global, []string{"ctrl+c"}, "interrupt the cell, a second time offer a restart, clear what is typed"},
	{"palette", Global, []string{"ctrl+p"}, "find a command by its name"},
	{"redraw", Global, []string{"ctrl+l"}, "draw the screen anew"},
	{"scroll-up", Global, []string{"pgup"}, "scroll up"},
	{"scroll-down", Global, []string{"pgdown"}, "scroll down"},
	{"scroll-top", Global, []string{"ctrl+home"}, "to the first cell"},
	{"scroll-end", Global, []string{"ctrl+end"}, "to the last cell"},
	{"help", Global, []string{"f1", "alt+h"}, "explain what is under the cursor"},
	{"panel-hbm", Global, []string{"f2"}, "the HBM panel"},
	{"panel-fusion", Global, []string{"f3"}, "the fusion panel"},
	{"panel-trace", Global, []string{"f4"}, "the trace panel"},
	{"continue", Global, []string{"f5"}, "debugger: go on"},
	{"panel-vars", Global, []string{"f6"}, "the variables panel"},
	{"panel-debug", Global, []string{"f7"}, "the breakpoints, stack and watches panel"},
	{"breakpoint", Global, []string{"f9"}, "debugger: set or clear a breakpoint on the line"},
	{"step-over", Global, []string{"f10"}, "debugger: to the next line"},
	{"step-in", Global, []string{"f11"}, "debugger: into the call"},
	{"step-out", Global, []string{"shift+f11", "alt+f11"}, "debugger: out of the function"},
	{"mouse", Global, []string{"f12"}, "mouse on or off"},
	{"save", Global, []string{"alt+s"}, "save the notebook"},
	{"pane-wider", Global, []string{"alt+left"}, "give the panels more room"},
	{"pane-narrower", Global, []string{"alt+right"}, "give the panels less room"},
	{"pane-taller", Global, []string{"alt+up"}, "give the typed cell, or the trace strip, more room"},
	{"pane-shorter", Global, []string{"alt+down"}, "give it less room"},
	{"panel-next", Global, []string{"alt+o"}, "focus the next panel"},
	{"panel-graph", Global, nil, "the graph panel"},
	{"panel-roofline", Global, nil, "the roofline panel"},
	{"panel-events", Global, nil, "the events panel"},
	{"panel-cache", Global, nil, "the compilation cache panel"},
	{"panel-xla", Global, nil, "the panel of the TPU compiler's last answer"},
	{"panel-help", Global, nil, "the help panel"},
	{"focus-1", Global, []string{"alt+1"}, "focus the cells"},
	{"focus-2", Global, []string{"alt+2"}, "focus the first panel"},
	{"focus-3", Global, []string{"alt+3"}, "focus the second panel"},
	{"focus-4", Global, []string{"alt+4"}, "focus the third panel"},
	{"focus-5", Global, []string{"alt+5"}, "focus the fourth panel"},
	{"focus-6", Global, []string{"alt+6"}, "focus the fifth panel"},
}

// Actions lists the table.
func Actions() []Action { return append([]Action(nil), actions...) }
