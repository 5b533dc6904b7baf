// Package spelling says how near two names are, for errors that name what was
// probably meant.
//
// It decides nothing: how near is near enough is for each caller. It imports
// nothing of this module. Invariant: the distance is symmetric and zero only
// for equal names.
package spelling

// Distance counts the insertions, deletions and replacements of bytes that
// turn a into b (Levenshtein's distance).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
