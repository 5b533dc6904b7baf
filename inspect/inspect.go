// Package inspect answers questions about a session: which lines cost most, who
// holds the HBM, what ran when, what was fused and why it ended.
//
// An answer is plain data, taken as a copy, that can be sent, compared and
// drawn; asking changes nothing and computes nothing on the device. It imports
// trace, viz and the runtime below tpu. Invariant: the parts of an answer add up
// to its totals.
package inspect
