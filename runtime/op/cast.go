package op

var castOps = []Def{}
