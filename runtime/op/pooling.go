package op

var poolingOps = []Def{}
