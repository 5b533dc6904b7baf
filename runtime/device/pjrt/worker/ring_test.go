//go:build linux

package worker

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"unsafe"
)

func testRing() *ring {
	const line = 64
	b := make([]byte, unsafe.Sizeof(ringHead{})+line)
	off := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % line
	return newRing(b[off:])
}

// pattern is what the n-th byte of a stream is.
func pattern(n int) byte { return byte(n*7 + n>>8 + n>>16) }

// TestRingCarriesEveryByte writes and reads in pieces of many sizes, larger
// than the ring too: the stream stays what it was.
func TestRingCarriesEveryByte(t *testing.T) {
	r := testRing()
	const total = 5*ringBytes + 321
	go func() {
		for at, step := 0, 1; at < total; step = step*3%(ringBytes+77) + 1 {
			p := make([]byte, min(step, total-at))
			for i := range p {
				p[i] = pattern(at + i)
			}
			if _, err := r.Write(p); err != nil {
				t.Error(err)
			}
			at += len(p)
		}
		r.end()
	}()
	buf := make([]byte, ringBytes)
	at := 0
	for step := 1; ; step = step*5%4096 + 1 {
		n, err := r.Read(buf[:step])
		for i, c := range buf[:n] {
			if c != pattern(at+i) {
				t.Fatalf("byte %d is %d, want %d", at+i, c, pattern(at+i))
			}
		}
		at += n
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	if at != total {
		t.Errorf("%d bytes arrived of %d", at, total)
	}
}

// TestRingByTurns sends one byte to and fro, so that each side sleeps or looks
// for the other every time.
func TestRingByTurns(t *testing.T) {
	there, back := testRing(), testRing()
	go func() { _, _ = io.Copy(back, there) }()
	one := make([]byte, 1)
	for i := range 20_000 {
		if _, err := there.Write([]byte{pattern(i)}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(back, one); err != nil || one[0] != pattern(i) {
			t.Fatalf("turn %d: %d, %v", i, one[0], err)
		}
	}
	there.end()
}

// TestRingEnds lets a reader of an empty ring and a writer of a full one go
// when the other side ends; what was written before is still read.
func TestRingEnds(t *testing.T) {
	empty := testRing()
	got := make(chan error)
	go func() {
		_, err := empty.Read(make([]byte, 1))
		got <- err
	}()
	empty.end()
	if err := <-got; !errors.Is(err, io.EOF) {
		t.Errorf("reading: %v, want EOF", err)
	}

	full := testRing()
	if _, err := full.Write(make([]byte, ringBytes)); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := full.Write([]byte("x"))
		got <- err
	}()
	full.end()
	if err := <-got; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("writing: %v, want a closed pipe", err)
	}
	if b, err := io.ReadAll(full); err != nil || !bytes.Equal(b, make([]byte, ringBytes)) {
		t.Errorf("%d bytes were left, %v", len(b), err)
	}
}

// TestRingIsNotUrgent: what nobody waits for arrives with what comes next.
func TestRingIsNotUrgent(t *testing.T) {
	r := testRing()
	got := make(chan []byte)
	go func() {
		b := make([]byte, 2)
		_, _ = io.ReadFull(r, b)
		got <- b
	}()
	if err := r.write([]byte("a"), false); err != nil {
		t.Fatal(err)
	}
	if err := r.write([]byte("b"), true); err != nil {
		t.Fatal(err)
	}
	if b := <-got; string(b) != "ab" {
		t.Errorf("got %q", b)
	}
}

// TestRingBroken: positions that cannot be are an error, not a slice out of range.
func TestRingBroken(t *testing.T) {
	r := testRing()
	r.taken.Store(5)
	var fe *FrameError
	if _, err := r.Read(make([]byte, 8)); !errors.As(err, &fe) {
		t.Errorf("reading: %v", err)
	}
	if _, err := r.Write(make([]byte, 8)); !errors.As(err, &fe) {
		t.Errorf("writing: %v", err)
	}
}
