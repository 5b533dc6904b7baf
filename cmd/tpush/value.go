package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A choice is the value of a flag that takes one of a few words.
type choice struct {
	value *string
	words []string
}

func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("there are %s", strings.Join(c.words, ", "))
	}
	*c.value = s
	return nil
}

func (c *choice) Type() string { return "string" }

// A limit is the value of a flag that bounds a time; 0 is no bound.
type limit time.Duration

func (l *limit) String() string {
	if *l == 0 {
		return "" // no bound, the default
	}
	return time.Duration(*l).String()
}

func (l *limit) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		return err
	}
	if d < 0 {
		return fmt.Errorf("a time limit is not negative")
	}
	*l = limit(d)
	return nil
}

func (l *limit) Type() string { return "duration" }
