package op

var sortOps = []Def{}
