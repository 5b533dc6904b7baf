package selftest

import (
	"strings"

	"github.com/tpush/tpush/runtime/conformance"
)

// A Departure is an answer of PyTorch's CPU that a device does not share.
type Departure struct {
	Records []string // ids, or a group of them up to the last slash
	Why     string
}

// departures are those of every device.
var departures = []Departure{
	{[]string{"aliasing/case/005"}, "PyTorch's CPU reads numbers it has just written; here values never change"},
	{[]string{"opinfo/matrix_exp/3"}, "PyTorch's powers of a bf16 matrix overflow, so that its exponential is NaN"},
}

// XLADepartures are those of real XLA. The first two are marked in the
// recordings.
func XLADepartures() []Departure {
	return []Departure{
		{nil, "subnormal numbers are taken as zero"},
		{nil, "a division or a square root may be off by one unit in the last place: a division by a constant or by a broadcast operand becomes a product with its reciprocal"},
		{[]string{"cast/cast/010", "cast/cast/107", "unary/logical_not/006", "unary/sqrt/006", "unary/rsqrt/006"}, "subnormal numbers are taken as zero"},
		{[]string{"errors/linalg_failure/001"}, "the factor of a matrix that is not positive definite is NaN, not an error"},
		{[]string{"errors/shape_mismatch/035", "errors/bad_argument/024"}, "numbers are not looked at, so a refusal that depends on them does not come"},
	}
}

func why(list []Departure, id string) string {
	group := id[:strings.LastIndexByte(id, '/')+1]
	for _, d := range list {
		for _, r := range d.Records {
			if r == id || r == group {
				return d.Why
			}
		}
	}
	return ""
}

// forXLA gives what real XLA must answer: the record with the tolerance that
// it grants to XLA, or why it does not apply.
func forXLA(r conformance.Record) (conformance.Record, string) {
	known := XLADepartures()
	if r.Subnormal {
		return r, known[0].Why
	}
	if r.XLATol != (conformance.Tol{}) {
		signed := r.Tol.SignedZero
		r.Tol = r.XLATol
		r.Tol.SignedZero = signed
		r.GradTol.RTol, r.GradTol.ATol = max(r.GradTol.RTol, r.XLATol.RTol), max(r.GradTol.ATol, r.XLATol.ATol)
	}
	return r, why(known, r.ID)
}
