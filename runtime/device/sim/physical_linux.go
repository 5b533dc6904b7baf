package sim

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// physicalBytes is the memory of the machine or, if less, of the control group this process runs in.
func physicalBytes() int64 {
	total := int64(fallbackBytes)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		total = int64(uint64(info.Totalram) * uint64(info.Unit))
	}
	if b, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
			total = min(total, n)
		}
	}
	return total
}
