//go:build !(amd64 || arm64) || purego

package par

// pause has no instruction here.
func pause() {}
