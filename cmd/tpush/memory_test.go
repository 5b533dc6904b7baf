package main

import (
	"os"
	"testing"
)

func TestMemoryBytes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"machine", map[string]string{"/proc/meminfo": "MemTotal:        2048 kB\nMemFree:          100 kB\n"}, 2 << 20},
		{"group", map[string]string{"/proc/meminfo": "MemTotal: 2048 kB\n", "/sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		{"group without limit", map[string]string{"/proc/meminfo": "MemTotal: 2048 kB\n", "/sys/fs/cgroup/memory.max": "max\n"}, 2 << 20},
		{"unknown", nil, 0},
	} {
		read := func(name string) ([]byte, error) {
			if s, ok := tt.files[name]; ok {
				return []byte(s), nil
			}
			return nil, os.ErrNotExist
		}
		if got := memoryBytes(read); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
