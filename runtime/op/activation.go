package op

var activationOps = []Def{}
