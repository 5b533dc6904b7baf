package op

var compareOps = []Def{}
