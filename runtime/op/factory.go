package op

var factoryOps = []Def{}
