package viz

import (
	"slices"
	"strconv"
	"strings"
)

// shownRanges is how many ranges of lines are written out.
const shownRanges = 4

// Ranges writes line numbers as 12-15,20; the middle is left out of many.
func Ranges(numbers []int) string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	if len(parts) > shownRanges {
		parts = append(parts[:shownRanges-1], "…", parts[len(parts)-1])
	}
	return strings.Join(parts, ",")
}
