package shot

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// A Step is one thing to do: a key or a paste, a new size, or a picture.
type Step struct {
	Msg    tea.Msg
	Settle bool   // wait for what it starts before the next step
	Size   [2]int // columns and rows, when not zero
	Shot   bool
	Wait   bool // only wait
}

// A KeysError says what is wrong in the notation of keys.
type KeysError struct {
	Offset int // byte
	Why    string
}

// Error gives place and reason.
func (e *KeysError) Error() string { return fmt.Sprintf("keys: at byte %d: %s", e.Offset, e.Why) }

// Parse reads keys: text is typed, <ctrl+r> is a key by its name, <lt> and
// <gt> are < and >, <paste:TEXT> pastes (\n is a line end in it), <size:120x36>
// resizes, <shot> takes a picture, and <settle> waits until nothing is under
// way, as after a key that is named. A line break is the key ctrl+j, which
// begins a new line in a cell.
func Parse(s string) ([]Step, error) {
	var steps []Step
	for i := 0; i < len(s); {
		if s[i] != '<' {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == '\n' {
				steps = append(steps, Step{Msg: tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}})
			} else {
				steps = append(steps, Step{Msg: typed(r)})
			}
			i += n
			continue
		}
		end := strings.IndexByte(s[i:], '>')
		if end < 0 {
			return nil, &KeysError{i, "< without >, write <lt> for the sign"}
		}
		if s[i+end-1] == '+' && strings.HasPrefix(s[i+end:], ">>") { // the key itself is >
			end++
		}
		st, err := named(s[i+1 : i+end])
		if err != "" {
			return nil, &KeysError{i, err}
		}
		steps = append(steps, st)
		i += end + 1
	}
	return steps, nil
}

func typed(r rune) tea.KeyPressMsg {
	if r == '\t' {
		return tea.KeyPressMsg{Code: tea.KeyTab}
	}
	return tea.KeyPressMsg{Code: r, Text: string(r)}
}

// named reads what stands between < and >.
func named(name string) (st Step, why string) {
	verb, arg, hasArg := strings.Cut(name, ":")
	switch {
	case name == "shot":
		return Step{Shot: true}, ""
	case name == "settle":
		return Step{Wait: true}, ""
	case name == "lt":
		return Step{Msg: typed('<')}, ""
	case name == "gt":
		return Step{Msg: typed('>')}, ""
	case hasArg && verb == "paste":
		text := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(arg)
		return Step{Msg: tea.PasteMsg{Content: text}, Settle: true}, ""
	case hasArg && verb == "size":
		w, h, ok := Size(arg)
		if !ok {
			return st, fmt.Sprintf("<%s> is no size, write <size:120x36>", name)
		}
		return Step{Size: [2]int{w, h}}, ""
	}
	k, why := key(name)
	return Step{Msg: k, Settle: true}, why
}

// Size reads 120x36.
func Size(s string) (w, h int, ok bool) {
	ws, hs, found := strings.Cut(s, "x")
	w, err1 := strconv.Atoi(ws)
	h, err2 := strconv.Atoi(hs)
	return w, h, found && err1 == nil && err2 == nil && w > 0 && h > 0 && w <= 1000 && h <= 1000
}

var modifiers = map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift, "meta": tea.ModMeta, "hyper": tea.ModHyper, "super": tea.ModSuper}

var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"delete": tea.KeyDelete, "insert": tea.KeyInsert, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
}

// key reads a key by its name, as the terminal library names it.
func key(name string) (tea.KeyPressMsg, string) {
	var k tea.KeyPressMsg
	rest := name
	for {
		m, after, ok := strings.Cut(rest, "+")
		mod := modifiers[m]
		if !ok || mod == 0 || after == "" {
			break
		}
		k.Mod |= mod
		rest = after
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case keyCodes[rest] != 0:
		k.Code = keyCodes[rest]
		if rest == "space" && k.Mod == 0 {
			k.Text = " "
		}
	case len(rest) > 1 && rest[0] == 'f' && number(rest[1:]) >= 1 && number(rest[1:]) <= 20:
		k.Code = tea.KeyF1 + rune(number(rest[1:])-1)
	case rest != "" && n == len(rest):
		k.Code = r
		if k.Mod == 0 {
			k.Text = rest
		}
	default:
		return k, fmt.Sprintf("there is no key <%s>", name)
	}
	return k, ""
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
