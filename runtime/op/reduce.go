package op

var reduceOps = []Def{}
