package simdtest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestRefused asks each way for an executable page.
func TestRefused(t *testing.T) {
	Everywhere(t, func(t *testing.T, w Way, found Found) {
		page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		err = unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
		if w.Tiles && err == nil {
			t.Error("a page became executable")
		}
		found("asked", 1)
	})
}
