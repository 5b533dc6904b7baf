package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/config"
)

// configured reads the configuration and lets it decide what the flags of a
// kernel leave open: the mode, the chip, how values are shown. Something wrong
// in a file is an error with its line, whoever reads it.
func (a *app) configured(k *kernelFlags) (*config.Config, error) {
	c, err := config.Load(config.Here("."))
	if err != nil {
		return nil, err
	}
	if k.mode == "" {
		k.mode = c.Mode
	}
	if k.chip == "" {
		k.chip = c.Chip
	}
	k.set = nil
	for _, s := range config.Settings() {
		if strings.HasPrefix(s.Key, "print.") && c.From(s.Key) != "default" {
			k.set = append(k.set, s.Key+"="+s.Value(c))
		}
	}
	return c, nil
}

// applySettings changes settings of a session from texts such as print.lines=30.
func applySettings(s *repl.Session, list []string) error {
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("set: %q is no setting and value", text)
		}
		if err := s.Change(name, value); err != nil {
			return err
		}
	}
	return nil
}

// configLines tells the doctor which files hold the configuration, and what is
// wrong with them.
func configLines() []string {
	s := config.Here(".")
	var lines []string
	for _, file := range []string{s.User, s.Project} {
		if file == "" {
			continue
		}
		state := "in force"
		if _, err := os.Stat(file); err != nil {
			state = "not there"
		}
		lines = append(lines, file+": "+state)
	}
	_, err := config.Load(s)
	var wrong *config.Error
	if err != nil && errors.As(err, &wrong) {
		lines = append(lines, strings.Split(err.Error(), "\n")...)
	}
	return lines
}
