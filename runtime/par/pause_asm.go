//go:build (amd64 || arm64) && !purego

package par

// pause tells the processor that this is a loop which waits.
//
//go:noescape
func pause()
