package op

var unaryOps = []Def{}
