package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Read takes the settings of a file. It gives an *Error for each that is wrong
// and takes the others.
func (c *Config) Read(file string, src []byte) []error {
	var tree map[string]any
	if err := toml.Unmarshal(src, &tree); err != nil {
		at := &Error{File: file, Line: 1, Column: 1, Why: err.Error()}
		var de *toml.DecodeError
		if errors.As(err, &de) {
			at.Line, at.Column = de.Position()
			at.Why = strings.TrimPrefix(de.Error(), "toml: ")
		}
		return []error{at}
	}
	where := positions(src)
	values := map[string]any{}
	flatten("", tree, values)
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return where[a].Line<<16 + where[a].Column - where[b].Line<<16 - where[b].Column
	})
	var errs []error
	for _, k := range keys {
		p := where[k]
		at := &Error{File: file, Line: p.Line, Column: p.Column, Key: k}
		if err := c.change(k, values[k], at, fmt.Sprintf("%s:%d", file, p.Line)); err != nil {
			errs = append(errs, err)
		}
	}
	return append(errs, c.Keys.clashes(file, where)...)
}

// flatten names every value of a tree of tables by its dotted key.
func flatten(prefix string, tree map[string]any, into map[string]any) {
	for k, v := range tree {
		if prefix != "" {
			k = prefix + "." + k
		}
		if sub, ok := v.(map[string]any); ok && len(sub) > 0 {
			flatten(k, sub, into)
			continue
		}
		into[k] = v
	}
}

// A position is where a key stands in a file.
type position struct{ Line, Column int }

// positions finds the keys of a file that is TOML.
func positions(src []byte) map[string]position {
	where := map[string]position{}
	var p unstable.Parser
	p.Reset(src)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		name, first := dotted(e)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name
			note(where, name, &p, first)
		case unstable.KeyValue:
			if table != "" {
				name = table + "." + name
			}
			note(where, name, &p, first)
			inline(where, name, &p, e.Value(), first)
		}
	}
	return where
}

// inline notes the keys of an inline table; they stand where the table's key does.
func inline(where map[string]position, prefix string, p *unstable.Parser, v *unstable.Node, at *unstable.Node) {
	if v.Kind != unstable.InlineTable {
		return
	}
	for it := v.Children(); it.Next(); {
		name, _ := dotted(it.Node())
		note(where, prefix+"."+name, p, at)
		inline(where, prefix+"."+name, p, it.Node().Value(), at)
	}
}

func dotted(e *unstable.Node) (name string, first *unstable.Node) {
	var parts []string
	for it := e.Key(); it.Next(); {
		if first == nil {
			first = it.Node()
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), first
}

func note(where map[string]position, name string, p *unstable.Parser, n *unstable.Node) {
	if n == nil {
		return
	}
	s := p.Shape(n.Raw)
	where[name] = position{s.Start.Line, s.Start.Column}
}
