package op

import "sync"

// All lists the tables, one per file. TestAllListsEveryTable finds a table
// that is missing here.
func All() [][]Def {
	return [][]Def{
		unaryOps, besselOps, bitsOps, binaryOps, ternaryOps, compareOps, activationOps, castOps, factoryOps, randomOps,
		reduceOps, scanOps, sortOps, normOps, lossOps,
		contractOps, fourierOps, luOps, reflectOps, pinvOps, convOps, poolingOps, moveOps, viewOps, indexOps, distributeOps,
	}
}

// index is built on first use: a package-level map literal over the rows would
// be an initialization cycle, since gradients name other rows.
var index = sync.OnceValue(func() map[Name]*Def {
	m := map[Name]*Def{}
	for _, t := range All() {
		for i := range t {
			m[t[i].Name] = &t[i]
		}
	}
	return m
})

// Lookup finds a row by name, nil when there is none.
func Lookup(n Name) *Def { return index()[n] }

// Must finds a row that this program knows to exist.
func Must(n Name) *Def {
	d := Lookup(n)
	if d == nil {
		panic("op: no row named " + string(n))
	}
	return d
}
