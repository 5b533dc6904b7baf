package op

var viewOps = []Def{}
