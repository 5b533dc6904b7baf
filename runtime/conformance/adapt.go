package conformance

// Adapt rewrites a call that is another row with other arguments, as Run does;
// any other record comes back as it is.
func Adapt(r *Record) *Record { return adapt(r) }
