package exec

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/shape"
)

// A Key names a program in the compilation cache. Its three parts say what
// differs when a program is compiled again.
type Key struct {
	Shapeless  uint64 // operations, edges, static attributes, element types, outputs, donations
	Dimensions uint64 // every dimension
	Options    uint64 // optimization level, chip
}

// String prints the three parts as 16 hex digits each, joined by _.
func (k Key) String() string {
	return fmt.Sprintf("%016x_%016x_%016x", k.Shapeless, k.Dimensions, k.Options)
}

// maxEntries bounds the cache; the entry not used for longest goes first.
const maxEntries = 8192

type entry struct {
	key     Key
	exe     device.Executable
	graph   *graph.Graph // as it was compiled, for display
	dims    [][]int      // dimensions of the inputs
	reads   int
	usedAt  int64 // launch number
	compile time.Duration
	why     string // it was compiled: what differs from the latest of its kind
	madeAt  int64  // launch number
}

type cache struct {
	entries  map[Key]*entry
	variants map[uint64]*entry // the latest entry of each shapeless part
	recent   [256]*entry       // found last at each place, to look before the map
	requests int64
	hits     int64
	compiles int64
	onlyHits bool
	gen      uint32 // changes when an entry is taken out
}

func newCache() *cache {
	return &cache{entries: map[Key]*entry{}, variants: map[uint64]*entry{}}
}

// lookup finds the entry of a key, nil when there is none.
func (c *cache) lookup(k Key) *entry {
	at := &c.recent[(k.Shapeless^k.Dimensions)%uint64(len(c.recent))]
	if e := *at; e != nil && e.key == k {
		return e
	}
	e := c.entries[k]
	if e != nil {
		*at = e
	}
	return e
}

// clear forgets every entry and keeps the counters.
func (c *cache) clear() {
	c.gen++
	clear(c.entries)
	clear(c.variants)
	clear(c.recent[:])
}

func (c *cache) evict() {
	var oldest *entry
	for _, e := range c.entries {
		if oldest == nil || e.usedAt < oldest.usedAt {
			oldest = e
		}
	}
	c.gen++
	delete(c.entries, oldest.key)
	clear(c.recent[:])
	if c.variants[oldest.key.Shapeless] == oldest {
		delete(c.variants, oldest.key.Shapeless)
	}
}

// CacheEntry is one program in the cache.
type CacheEntry struct {
	Key         string
	Name        string
	Ops         []string
	Inputs      []shape.Spec
	Reads       int
	CompileTime time.Duration
	Why         string // it was compiled: what differs from the latest program of the same operations
	MadeAt      int64  // number of the launch it was compiled for
	UsedAt      int64  // number of the latest launch that ran it
}

// CacheStats counts what the compilation cache did.
type CacheStats struct {
	Requests, Hits, Compilations int64
	Entries                      int
}

// CacheStats gives the counters.
func (d *Dispatcher) CacheStats() CacheStats {
	d.lock()
	defer d.mu.Unlock()
	return d.cache.stats()
}

func (c *cache) stats() CacheStats {
	return CacheStats{c.requests, c.hits, c.compiles, len(c.entries)}
}

// CacheEntries lists the programs in the cache, in the order they were compiled.
func (d *Dispatcher) CacheEntries() []CacheEntry {
	d.lock()
	defer d.mu.Unlock()
	return d.cache.list()
}

func (c *cache) list() []CacheEntry {
	var list []CacheEntry
	for _, e := range c.entries {
		ce := CacheEntry{Key: e.key.String(), Name: e.graph.Name, Inputs: e.graph.Params(), Reads: e.reads, CompileTime: e.compile, Why: e.why, MadeAt: e.madeAt, UsedAt: e.usedAt}
		for _, n := range e.graph.Nodes {
			ce.Ops = append(ce.Ops, string(n.Def.Name))
		}
		list = append(list, ce)
	}
	slices.SortFunc(list, func(a, b CacheEntry) int { return cmp.Or(cmp.Compare(a.MadeAt, b.MadeAt), cmp.Compare(a.Key, b.Key)) })
	return list
}

// ClearCache forgets every program and keeps the counters.
func (d *Dispatcher) ClearCache() {
	d.lock()
	defer d.mu.Unlock()
	d.cache.clear()
}
