//go:build !purego

package simd

import "syscall"

// permitTiles requests the tile data for every thread of the process.
func permitTiles() bool {
	const (
		archReqXcompPerm = 0x1023
		xTileData        = 18
	)
	_, _, e := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, archReqXcompPerm, xTileData, 0)
	return e == 0
}
