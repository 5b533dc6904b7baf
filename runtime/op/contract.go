package op

var contractOps = []Def{}
