// Package config is what a user can set for good: the table of settings, the
// table of named actions with their keys, and the files they are read from.
//
// It knows no screen and no session: it gives values. It imports spelling.
// Invariant: a file that names something unknown, or gives it a value it
// cannot take, is an error with its line; nothing is ignored.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Config is the settings and the keys in force.
type Config struct {
	Theme     string // auto, dark, light, mono, high-contrast
	ASCII     bool   // no letters outside ASCII in our own drawings
	Mouse     bool
	FPS       int // frames a second at most
	Panels    []string
	Welcome   bool
	Lines     int // of a shown value
	Bytes     int
	Width     int
	Mode      string // "" is the default of the program
	Chip      string
	Timeout   time.Duration // of a cell, 0 is none
	Autosave  time.Duration // between two, 0 is never
	History   int           // cells kept
	SkipSpace bool          // a cell that begins with a space is not kept

	Keys Keymap

	from map[string]string // key to where its value comes from
}

// Default is the configuration of a user who set nothing.
func Default() *Config {
	c := &Config{from: map[string]string{}}
	for i := range settings {
		settings[i].reset(c)
	}
	c.Keys = defaultKeymap()
	return c
}

// Sources are where settings come from, the strongest first after the flags.
type Sources struct {
	Env     func(string) string // os.Getenv
	Project string              // a file of the folder, "" for none
	User    string              // a file of the user, "" for none
}

// The names of the files.
const (
	userFile    = "config.toml"
	projectFile = ".tpush.toml"
)

// Here gives the sources of this process: the environment, .tpush.toml in dir
// or a folder above it, and config.toml in the user's configuration folder.
func Here(dir string) Sources {
	s := Sources{Env: os.Getenv}
	if base := Folder(os.Getenv); base != "" {
		s.User = filepath.Join(base, userFile)
	}
	for d, err := filepath.Abs(dir); err == nil; d = filepath.Dir(d) {
		if f := filepath.Join(d, projectFile); exists(f) {
			s.Project = f
			break
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	return s
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Folder is where the user's configuration lives, "" when nothing says where
// (the XDG base directory specification).
func Folder(env func(string) string) string { return xdg(env, "XDG_CONFIG_HOME", ".config") }

// StateFolder is where history, sessions and autosaves live.
func StateFolder(env func(string) string) string {
	return xdg(env, "XDG_STATE_HOME", filepath.Join(".local", "state"))
}

func xdg(env func(string) string, name, under string) string {
	if d := env(name); filepath.IsAbs(d) { // a relative path is to be ignored, says the specification
		return filepath.Join(d, "tpush")
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, under, "tpush")
	}
	return ""
}

// Load reads the sources, the weakest first. A file that does not exist is
// none. The error joins every *Error found; the configuration then holds what
// was right.
func Load(s Sources) (*Config, error) {
	c := Default()
	var errs []error
	for _, file := range []string{s.User, s.Project} {
		if file == "" {
			continue
		}
		src, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, &Error{File: file, Why: cause(err)})
			continue
		}
		errs = append(errs, c.Read(file, src)...)
	}
	if s.Env != nil {
		for i := range settings {
			name := EnvName(settings[i].Key)
			if v := s.Env(name); v != "" {
				if err := c.Set(settings[i].Key, v, name); err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	return c, errors.Join(errs...)
}

func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// EnvName is the environment variable of a setting: TPUSH_UI_THEME for ui.theme.
func EnvName(key string) string {
	return "TPUSH_" + strings.NewReplacer(".", "_", "-", "_").Replace(strings.ToUpper(key))
}

// From says where the value of a setting comes from: a file and line, an
// environment variable, a flag; "default" when nobody set it.
func (c *Config) From(key string) string {
	if f := c.from[key]; f != "" {
		return f
	}
	return "default"
}

// An Error says what is wrong with a setting and where.
type Error struct {
	File   string // or the environment variable, or the flag
	Line   int    // 0 when there is none
	Column int
	Key    string
	Why    string
}

// Error gives place, key and reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	return b.String() + ": " + e.Why
}
