package config

import (
	"fmt"
	"slices"
	"strings"
)

// A Keymap says which key does what.
type Keymap struct {
	keys  map[string][]string           // action name to its keys
	match map[Context]map[string]string // context and key, or sequence, to action name
	heads map[Context]map[string]bool   // beginnings of sequences
}

func defaultKeymap() Keymap {
	m := Keymap{keys: map[string][]string{}}
	for _, a := range actions {
		m.keys[a.Name] = a.Keys
	}
	m.index()
	return m
}

// index makes the lookup tables from the keys.
func (m *Keymap) index() {
	m.match, m.heads = map[Context]map[string]string{}, map[Context]map[string]bool{}
	for _, c := range Contexts() {
		m.match[c], m.heads[c] = map[string]string{}, map[string]bool{}
	}
	for _, a := range actions {
		for _, k := range m.keys[a.Name] {
			m.match[a.Context][k] = a.Name
			for i := range k {
				if i > 0 && k[i] == ' ' {
					m.heads[a.Context][k[:i]] = true
				}
			}
		}
	}
}

// Keys are the keys of an action, nil when it has none.
func (m Keymap) Keys(action string) []string { return m.keys[action] }

// Lookup gives the action of a key, typed after the keys in pending, in a
// context or else everywhere. more says that it begins a longer sequence.
func (m Keymap) Lookup(c Context, pending, key string) (action string, more bool) {
	if pending != "" {
		key = pending + " " + key
	}
	for _, c := range within(c) {
		if m.heads[c][key] {
			return "", true
		}
		if a := m.match[c][key]; a != "" {
			return a, false
		}
	}
	return "", false
}

// within lists the contexts whose keys are in force in one, the strongest first.
func within(c Context) []Context {
	if slices.Contains(Panels(), c) {
		return []Context{c, Panel, Global}
	}
	return []Context{c, Global}
}

// rebind gives an action other keys: one, a list, or none for "".
func (m *Keymap) rebind(action string, v any) error {
	if _, ok := m.keys[action]; !ok {
		if near := nearest(action, m.names()); near != "" {
			return fmt.Errorf("there is no such action, did you mean %s?", near)
		}
		return fmt.Errorf("there is no such action, see :keys")
	}
	keys, ok := keyList(v)
	if !ok {
		return &typeError{v, "a key or a list of keys"}
	}
	for i, k := range keys {
		canonical, err := canonicalSequence(k)
		if err != nil {
			return err
		}
		keys[i] = canonical
	}
	own := make(map[string][]string, len(m.keys)) // maps are shared by copies
	for n, k := range m.keys {
		own[n] = k
	}
	own[action] = keys
	m.keys = own
	m.index()
	return nil
}

// keyList reads one key or a list; "," is a key, so text is not split.
func keyList(v any) ([]string, bool) {
	if s, ok := v.(string); ok {
		if s == "" {
			return nil, true
		}
		return []string{s}, true
	}
	return stringsOf(v)
}

func (m Keymap) names() []string {
	all := make([]string, 0, len(m.keys))
	for n := range m.keys {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// clashes are the keys that two actions of one context have, where a file gave
// one of them.
func (m Keymap) clashes(file string, where map[string]position) []error {
	var errs []error
	seen := map[string]string{}
	for _, a := range actions {
		for _, k := range m.keys[a.Name] {
			id := string(a.Context) + " " + k
			other, taken := seen[id]
			if !taken {
				seen[id] = a.Name
				continue
			}
			for _, pair := range [][2]string{{a.Name, other}, {other, a.Name}} {
				if p, ok := where["keys."+pair[0]]; ok {
					errs = append(errs, &Error{File: file, Line: p.Line, Column: p.Column, Key: "keys." + pair[0], Why: fmt.Sprintf("%s is the key of %s too", k, pair[1])})
					break
				}
			}
		}
	}
	return errs
}

// modifiers in the order of the terminal library's names.
var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// named are the keys that are not a letter.
var named = []string{
	"enter", "esc", "tab", "space", "backspace", "delete", "insert", "home", "end", "pgup", "pgdown", "up", "down", "left", "right",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", "f16", "f17", "f18", "f19", "f20",
}

// canonicalSequence checks keys with spaces between them.
func canonicalSequence(s string) (string, error) {
	keys := strings.Split(s, " ")
	for i, k := range keys {
		c, err := canonicalKey(k)
		if err != nil {
			return "", err
		}
		keys[i] = c
	}
	return strings.Join(keys, " "), nil
}

// canonicalKey writes a key as the terminal library does: modifiers in its order.
func canonicalKey(s string) (string, error) {
	parts := strings.Split(s, "+")
	if strings.HasSuffix(s, "+") && s != "+" { // ctrl++
		parts = append(strings.Split(strings.TrimSuffix(s, "++"), "+"), "+")
	}
	if s == "+" {
		parts = []string{"+"}
	}
	base := parts[len(parts)-1]
	mods := parts[:len(parts)-1]
	for _, m := range mods {
		if !slices.Contains(modifiers, m) {
			return "", fmt.Errorf("%q: there is no modifier %q, there are %s", s, m, strings.Join(modifiers, ", "))
		}
	}
	if n := []rune(base); len(n) != 1 && !slices.Contains(named, base) {
		if near := nearest(base, named); near != "" {
			return "", fmt.Errorf("%q: there is no key %q, did you mean %s?", s, base, near)
		}
		return "", fmt.Errorf("%q: there is no key %q", s, base)
	}
	slices.SortFunc(mods, func(a, b string) int { return slices.Index(modifiers, a) - slices.Index(modifiers, b) })
	mods = slices.Compact(mods)
	return strings.Join(append(mods, base), "+"), nil
}
