package op

var lossOps = []Def{}
