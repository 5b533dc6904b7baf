package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/viz"
)

// A Cache is the compilation cache: what it did and what it holds.
type Cache struct {
	Requests int64          `json:"requests"`
	Hits     int64          `json:"hits"`
	Compiled int64          `json:"compiled"`
	Entries  []CacheProgram `json:"entries"` // the latest first
	Left     int            `json:"left,omitempty"`
}

// A CacheProgram is one program in the cache.
type CacheProgram struct {
	Key       string `json:"key"`
	Name      string `json:"name"`
	Ops       int    `json:"ops"`
	Inputs    string `json:"inputs"`
	Hits      int    `json:"hits"`
	CompileNS int64  `json:"compile_ns"` // host time
	Why       string `json:"why"`        // it was compiled and not found
	MadeAt    uint64 `json:"made_at"`
	UsedAt    uint64 `json:"used_at"` // launches
}

// maxPrograms is how many programs a snapshot lists.
const maxPrograms = 200

// CacheOf makes a snapshot of the entries of a cache, in the order they were compiled.
func CacheOf(entries []exec.CacheEntry, s exec.CacheStats) Cache {
	c := Cache{Requests: s.Requests, Hits: s.Hits, Compiled: s.Compilations, Entries: []CacheProgram{}}
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		if len(c.Entries) == maxPrograms {
			c.Left++
			continue
		}
		c.Entries = append(c.Entries, CacheProgram{Key: e.Key, Name: e.Name, Ops: len(e.Ops), Inputs: strings.Join(texts(e.Inputs), " "), Hits: e.Reads,
			CompileNS: e.CompileTime.Nanoseconds(), Why: e.Why, MadeAt: uint64(e.MadeAt), UsedAt: uint64(e.UsedAt)})
	}
	return c
}

// Rate is a line: requests, hits, programs compiled and held.
func (c *Cache) Rate() string {
	return fmt.Sprintf("%s, %s (%s), %s compiled, %s held", viz.Plural(c.Requests, "request"), viz.Plural(c.Hits, "hit"), viz.Percent(c.Hits, c.Requests), viz.Count(c.Compiled), viz.Count(int64(len(c.Entries)+c.Left)))
}

// Reasons counts why programs were compiled, the most frequent kind of reason first.
func (c *Cache) Reasons() viz.Bars {
	index := map[string]int{}
	var b viz.Bars
	for i := range c.Entries {
		why := c.Entries[i].Why
		if strings.HasPrefix(why, "input ") {
			why = "input shape changed"
		}
		k, ok := index[why]
		if !ok {
			k = len(b.Rows)
			index[why] = k
			b.Rows = append(b.Rows, viz.BarRow{Label: why, Meaning: viz.Wait})
		}
		b.Rows[k].Value++
	}
	for i := range b.Rows {
		b.Rows[i].Text = viz.Count(int64(b.Rows[i].Value))
	}
	return b
}

// Table lists the programs.
func (c *Cache) Table() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{Title: "program", Least: 20}, {Title: "ops", Right: true, Drop: 4}, {Title: "hits", Right: true}, {Title: "for", Drop: 3}, {Title: "compiled because", Least: 28}, {Title: "inputs", Drop: 1}, {Title: "key", Meaning: viz.Dim, Drop: 2}}}
	for i := range c.Entries {
		e := &c.Entries[i]
		tb.Rows = append(tb.Rows, []string{e.Name, strconv.Itoa(e.Ops), viz.Count(int64(e.Hits)), "g" + strconv.FormatUint(e.MadeAt, 10), e.Why, e.Inputs, e.Key})
	}
	return tb
}
