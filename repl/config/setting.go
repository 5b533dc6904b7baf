package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tpush/tpush/runtime/spelling"
)

// A Setting is one row of the table of settings.
type Setting struct {
	Key   string // section.name
	Doc   string
	Takes string // what values it takes, for people
	set   func(c *Config, v any) error
	get   func(c *Config) string // as it stands in a file
	reset func(c *Config)
}

// settings is the table, in the order of the file.
var settings = []Setting{
	words("ui.theme", "colours", func(c *Config) *string { return &c.Theme }, "auto", "dark", "light", "mono", "high-contrast"),
	boolean("ui.ascii", "draw with ASCII letters only", func(c *Config) *bool { return &c.ASCII }, false),
	boolean("ui.mouse", "wheel and clicks; text is then selected with Shift held", func(c *Config) *bool { return &c.Mouse }, true),
	number("ui.fps", "frames a second at most", func(c *Config) *int { return &c.FPS }, 60, 1, 240),
	list("ui.panels", "panels open at the start", func(c *Config) *[]string { return &c.Panels }),
	boolean("ui.welcome", "show the four things to try in an empty notebook", func(c *Config) *bool { return &c.Welcome }, true),
	number("print.lines", "lines of a shown value before it is cut", func(c *Config) *int { return &c.Lines }, 20, 1, 1<<20),
	number("print.bytes", "bytes of a shown value before it is cut", func(c *Config) *int { return &c.Bytes }, 4<<10, 1, 1<<30),
	number("print.width", "columns of a shown value before it takes one line an element", func(c *Config) *int { return &c.Width }, 100, 1, 1<<20),
	words("run.mode", "eager mode of a new notebook", func(c *Config) *string { return &c.Mode }, "", "debug", "strict", "fuse", "compiled"),
	text("run.chip", "simulated chip of a new notebook", func(c *Config) *string { return &c.Chip }),
	duration("run.timeout", "time a cell may take, 0 for any", func(c *Config) *time.Duration { return &c.Timeout }, 0),
	duration("files.autosave", "time between two autosaves, 0 for never", func(c *Config) *time.Duration { return &c.Autosave }, 30*time.Second),
	number("history.size", "cells of history kept", func(c *Config) *int { return &c.History }, 10_000, 0, 1<<20),
	boolean("history.ignore_space", "keep no cell that begins with a space", func(c *Config) *bool { return &c.SkipSpace }, false),
}

// Settings lists the rows.
func Settings() []Setting { return slices.Clone(settings) }

// Value is the value of a setting as it stands in a file.
func (s Setting) Value(c *Config) string { return s.get(c) }

func lookup(key string) *Setting {
	for i := range settings {
		if settings[i].Key == key {
			return &settings[i]
		}
	}
	return nil
}

// Set changes a setting, or keys.ACTION, from text as an environment variable
// or a flag gives it; from says where it comes from. The error is an *Error.
func (c *Config) Set(key, value, from string) error {
	return c.change(key, value, &Error{File: from, Key: key}, from)
}

// change sets key to v; at is the error to give, without its reason.
func (c *Config) change(key string, v any, at *Error, from string) error {
	if action, ok := strings.CutPrefix(key, "keys."); ok {
		if err := c.Keys.rebind(action, v); err != nil {
			at.Why = err.Error()
			return at
		}
		c.from[key] = from
		return nil
	}
	s := lookup(key)
	if s == nil {
		at.Why = "there is no such setting"
		if near := nearest(key, settingKeys()); near != "" {
			at.Why += ", did you mean " + near + "?"
		}
		return at
	}
	if err := s.set(c, v); err != nil {
		at.Why = err.Error()
		return at
	}
	c.from[key] = from
	return nil
}

func settingKeys() []string {
	var all []string
	for i := range settings {
		all = append(all, settings[i].Key)
	}
	return all
}

// nearest is the closest of the names, "" when none is close.
func nearest(name string, names []string) string {
	best, near := 1+max(2, len(name)/4), ""
	for _, n := range names {
		if d := spelling.Distance(name, n); d < best {
			best, near = d, n
		}
	}
	return near
}

// A typeError says what a setting takes.
type typeError struct {
	value any
	want  string
}

func (e *typeError) Error() string {
	if s, ok := e.value.(string); ok {
		return fmt.Sprintf("%q is not %s", s, e.want)
	}
	return fmt.Sprintf("%v is not %s", e.value, e.want)
}

func words(key, doc string, field func(*Config) *string, legal ...string) Setting {
	takes := "one of " + strings.Join(slices.DeleteFunc(slices.Clone(legal), func(s string) bool { return s == "" }), ", ")
	return Setting{
		Key: key, Doc: doc, Takes: takes,
		set: func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok || !slices.Contains(legal, s) {
				return &typeError{v, takes}
			}
			*field(c) = s
			return nil
		},
		get:   func(c *Config) string { return strconv.Quote(*field(c)) },
		reset: func(c *Config) { *field(c) = legal[0] },
	}
}

func text(key, doc string, field func(*Config) *string) Setting {
	return Setting{
		Key: key, Doc: doc, Takes: "text",
		set: func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok {
				return &typeError{v, "text"}
			}
			*field(c) = s
			return nil
		},
		get:   func(c *Config) string { return strconv.Quote(*field(c)) },
		reset: func(c *Config) { *field(c) = "" },
	}
}

func boolean(key, doc string, field func(*Config) *bool, def bool) Setting {
	return Setting{
		Key: key, Doc: doc, Takes: "true or false",
		set: func(c *Config, v any) error {
			switch x := v.(type) {
			case bool:
				*field(c) = x
				return nil
			case string:
				if b, err := strconv.ParseBool(x); err == nil {
					*field(c) = b
					return nil
				}
			}
			return &typeError{v, "true or false"}
		},
		get:   func(c *Config) string { return strconv.FormatBool(*field(c)) },
		reset: func(c *Config) { *field(c) = def },
	}
}

func number(key, doc string, field func(*Config) *int, def, least, most int) Setting {
	takes := fmt.Sprintf("a number from %d to %d", least, most)
	return Setting{
		Key: key, Doc: doc, Takes: takes,
		set: func(c *Config, v any) error {
			n, ok := int64(0), false
			switch x := v.(type) {
			case int64:
				n, ok = x, true
			case string:
				var err error
				n, err = strconv.ParseInt(x, 10, 64)
				ok = err == nil
			}
			if !ok || n < int64(least) || n > int64(most) {
				return &typeError{v, takes}
			}
			*field(c) = int(n)
			return nil
		},
		get:   func(c *Config) string { return strconv.Itoa(*field(c)) },
		reset: func(c *Config) { *field(c) = def },
	}
}

func duration(key, doc string, field func(*Config) *time.Duration, def time.Duration) Setting {
	const takes = `a duration such as "30s"`
	return Setting{
		Key: key, Doc: doc, Takes: takes,
		set: func(c *Config, v any) error {
			s, ok := v.(string)
			if n, isInt := v.(int64); isInt && n == 0 {
				s, ok = "0", true
			}
			d, err := time.ParseDuration(s)
			if !ok || err != nil || d < 0 {
				return &typeError{v, takes}
			}
			*field(c) = d
			return nil
		},
		get:   func(c *Config) string { return strconv.Quote(field(c).String()) },
		reset: func(c *Config) { *field(c) = def },
	}
}

func list(key, doc string, field func(*Config) *[]string) Setting {
	const takes = "a list of names"
	return Setting{
		Key: key, Doc: doc, Takes: takes,
		set: func(c *Config, v any) error {
			names, ok := stringsOf(v)
			if !ok {
				return &typeError{v, takes}
			}
			*field(c) = names
			return nil
		},
		get: func(c *Config) string {
			quoted := make([]string, len(*field(c)))
			for i, s := range *field(c) {
				quoted[i] = strconv.Quote(s)
			}
			return "[" + strings.Join(quoted, ", ") + "]"
		},
		reset: func(c *Config) { *field(c) = nil },
	}
}

// stringsOf reads a list, or text with commas.
func stringsOf(v any) ([]string, bool) {
	switch x := v.(type) {
	case string:
		var names []string
		for _, s := range strings.Split(x, ",") {
			if s = strings.TrimSpace(s); s != "" {
				names = append(names, s)
			}
		}
		return names, true
	case []any:
		names := make([]string, 0, len(x))
		for _, e := range x {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			names = append(names, s)
		}
		return names, true
	}
	return nil, false
}
