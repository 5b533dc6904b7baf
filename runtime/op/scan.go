package op

var scanOps = []Def{}
