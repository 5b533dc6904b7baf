package op

var ternaryOps = []Def{}
