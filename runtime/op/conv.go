package op

var convOps = []Def{}
