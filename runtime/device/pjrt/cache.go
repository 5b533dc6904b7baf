package pjrt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/tpush/tpush/repl/store/atomicfile"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// A Cache keeps compiled programs on disk, in folders that other processes,
// and other machines, may use at the same time. What it holds is machine code:
// the key names the library and the processor, and a file that is not whole,
// or of another key, is ignored and written anew.
type Cache struct {
	// Folders are looked at in order and all written to: this machine's, then a
	// shared one. A folder that cannot be used costs a compilation, nothing else.
	Folders []string
	Library string // SHA-256 of the plug-in

	hits, misses atomic.Int64
}

// Stats counts lookups on disk.
type Stats struct{ Hits, Misses int64 }

// Stats gives the counters.
func (c *Cache) Stats() Stats { return Stats{c.hits.Load(), c.misses.Load()} }

// Compile compiles a StableHLO text, or loads what an earlier process compiled.
func (c *Cache) Compile(ctx context.Context, w *worker.Worker, text string, options []byte) (*worker.Program, error) {
	if c == nil || len(c.Folders) == 0 {
		return w.Compile(ctx, capi.MLIR, []byte(text), options)
	}
	key := c.key(text, options)
	for i, dir := range c.Folders {
		code := read(dir, key)
		if code == nil {
			continue
		}
		p, err := w.Load(ctx, code)
		if err != nil {
			if dead := w.Dead(); dead != nil {
				remove(dir, key) // it may have been the reason
				return nil, err
			}
			continue
		}
		c.hits.Add(1)
		for _, nearer := range c.Folders[:i] {
			write(nearer, key, code)
		}
		return p, nil
	}
	c.misses.Add(1)
	p, err := w.Compile(ctx, capi.MLIR, []byte(text), options)
	if err != nil {
		return nil, err
	}
	if code, err := p.Serialize(ctx); err == nil { // a program that cannot be kept still runs
		for _, dir := range c.Folders {
			write(dir, key, code)
		}
	}
	return p, nil
}

// key has three parts, as the real system's cache has: what is computed, for
// which processor, and how.
func (c *Cache) key(text string, options []byte) string {
	part := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:8])
	}
	return part([]byte(text)) + "_" + part([]byte(c.Library+runtime.GOARCH+processor())) + "_" + part(options)
}

// processor names the features that machine code may use.
func processor() string {
	x := cpu.X86
	var b []byte
	for _, has := range []bool{
		x.HasSSE42, x.HasAVX, x.HasAVX2, x.HasFMA, x.HasBMI2, x.HasAVX512F, x.HasAVX512BW, x.HasAVX512DQ, x.HasAVX512VL,
		x.HasAVX512VNNI, x.HasAVX512BF16, x.HasAMXTile, x.HasAMXBF16, x.HasAVXVNNI,
	} {
		b = append(b, '0')
		if has {
			b[len(b)-1] = '1'
		}
	}
	return string(b)
}

// magic begins a file; the key and the checksum of the code follow.
const magic = "tpush-xla-1\n"

func path(dir, key string) string { return filepath.Join(dir, key[:2], key+".bin") }

// read gives the code of a whole file of the key, else nil.
func read(dir, key string) []byte {
	b, err := os.ReadFile(path(dir, key))
	if err != nil {
		return nil
	}
	head := magic + key + "\n"
	if len(b) < len(head)+sha256.Size || string(b[:len(head)]) != head {
		return nil
	}
	sum, code := b[len(head):len(head)+sha256.Size], b[len(head)+sha256.Size:]
	if want := sha256.Sum256(code); !bytes.Equal(sum, want[:]) {
		return nil
	}
	return code
}

// write keeps the code. Two processes may write the same at once: each renames
// a whole file, and both files say the same.
func write(dir, key string, code []byte) {
	file := path(dir, key)
	if os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	sum := sha256.Sum256(code)
	_, _ = atomicfile.Write(file, 0o644, func(w io.Writer) error {
		_, err := w.Write(append(append([]byte(magic+key+"\n"), sum[:]...), code...))
		return err
	})
}

func remove(dir, key string) { _ = os.Remove(path(dir, key)) }
