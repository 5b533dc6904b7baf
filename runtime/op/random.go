package op

var randomOps = []Def{}
