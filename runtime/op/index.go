package op

var indexOps = []Def{}
