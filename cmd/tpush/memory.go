package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryShare is the part of the machine's memory that a kernel's heap may take
// before the collector works harder.
const memoryShare = 0.8

// limitMemory tells the collector how much memory there is: the values of
// tensors live on this heap, and a kernel that outgrows the machine is killed.
// A GOMEMLIMIT in the environment counts more.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if n := memoryBytes(os.ReadFile); n > 0 {
		debug.SetMemoryLimit(int64(memoryShare * float64(n)))
	}
}

// memoryBytes is the memory of the machine or of the control group, 0 if
// neither is known.
func memoryBytes(readFile func(string) ([]byte, error)) int64 {
	least := int64(math.MaxInt64)
	note := func(n int64, err error) {
		if err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if b, err := readFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
				n, err := strconv.ParseInt(f[1], 10, 53)
				note(n<<10, err)
			}
		}
	}
	for _, file := range [...]string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := readFile(file); err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
			note(n, err)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}
