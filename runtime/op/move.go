package op

var moveOps = []Def{}
