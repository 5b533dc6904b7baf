package op

var binaryOps = []Def{}
