package op

var normOps = []Def{}
