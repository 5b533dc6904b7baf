package jit

// A plan cuts a program into passes over the row. A value that depends on a
// reduction is computed in a later pass than the reduction; what an earlier pass
// computed is computed again when that is cheap, else kept in a scratch row.
type plan struct {
	*Program
	passes []pass
	start  []Value // values of the row computed before the first pass
	kept   []Value // values kept, scratch row i holds kept[i]
	rowOut []int   // outputs of one element a row
	folds  int     // reductions
	part   []int   // of a reduction: its number
	keptAt []int   // of a kept value: its scratch row
}

// scratchRow is the scratch row of a kept value.
func (pl *plan) scratchRow(v Value) int { return pl.keptAt[v] }

// A pass is one walk along the row.
type pass struct {
	body   []Value // values of elements, loads and recalled ones among them, in order
	recall []bool  // of body: loaded from the scratch row
	keep   []Value // stored to the scratch row
	folds  []Value // reductions made
	outs   []int   // outputs stored
	after  []Value // values of the row computed when the pass is over, without folds
}

// cheap is how many operations are rather computed again than kept.
const cheap = 3

// plan cuts p into passes.
func (p *Program) plan() *plan {
	stage := make([]int, len(p.nodes)) // the pass in which an element, or before which a row value, can be computed
	cost := make([]int, len(p.nodes))
	last := 0
	for v := 1; v < len(p.nodes); v++ {
		n := &p.nodes[v]
		for _, a := range n.args[:sigs[n.op].args] {
			stage[v] = max(stage[v], stage[a])
			if !p.row[v] {
				cost[v] += cost[a]
			}
		}
		switch {
		case sigs[n.op].reduce:
			last = max(last, stage[v])
			stage[v]++
		case !p.row[v] && sigs[n.op].args > 0 && n.op != OpBits:
			cost[v]++
		}
	}
	for _, o := range p.outs {
		if !o.row {
			last = max(last, stage[o.value])
		}
	}
	pl := &plan{Program: p, passes: make([]pass, last+1), part: make([]int, len(p.nodes)), keptAt: make([]int, len(p.nodes))}
	for i, o := range p.outs {
		if o.row {
			pl.rowOut = append(pl.rowOut, i)
		} else {
			q := &pl.passes[stage[o.value]]
			q.outs = append(q.outs, i)
		}
	}
	for v := 1; v < len(p.nodes); v++ {
		n := &p.nodes[v]
		switch {
		case sigs[n.op].reduce:
			q := &pl.passes[stage[v]-1]
			q.folds = append(q.folds, Value(v))
			pl.part[v] = pl.folds
			pl.folds++
		case p.row[v] && stage[v] == 0:
			pl.start = append(pl.start, Value(v))
		case p.row[v]:
			q := &pl.passes[stage[v]-1]
			q.after = append(q.after, Value(v))
		}
	}
	// From the last pass to the first, so that a pass knows what later ones want kept.
	keeps := make([]bool, len(p.nodes))
	for i := len(pl.passes) - 1; i >= 0; i-- {
		q := &pl.passes[i]
		need, recall := make([]bool, len(p.nodes)), make([]bool, len(p.nodes))
		for _, o := range q.outs {
			need[p.outs[o].value] = true
		}
		for _, f := range q.folds {
			need[p.nodes[f].args[0]] = true
		}
		for _, v := range q.keep {
			need[v] = true
		}
		for v := len(p.nodes) - 1; v > 0; v-- {
			n := &p.nodes[v]
			switch {
			case !need[v] || p.row[v]:
			case stage[v] < i && cost[v] > cheap && n.typ != Mask:
				recall[v] = true
				if !keeps[v] {
					keeps[v] = true
					pl.keptAt[v] = len(pl.kept)
					pl.kept = append(pl.kept, Value(v))
					q := &pl.passes[stage[v]]
					q.keep = append(q.keep, Value(v))
				}
			default:
				for _, a := range n.args[:sigs[n.op].args] {
					need[a] = true
				}
			}
		}
		for v := 1; v < len(p.nodes); v++ {
			if need[v] && !p.row[v] {
				q.body = append(q.body, Value(v))
				q.recall = append(q.recall, recall[v])
			}
		}
	}
	return pl
}

// readsLate says whether a pass reads inputs after an earlier one has written outputs.
func (pl *plan) readsLate() bool {
	written := false
	for i := range pl.passes {
		q := &pl.passes[i]
		for j, v := range q.body {
			if written && pl.nodes[v].op == OpIn && !q.recall[j] {
				return true
			}
		}
		written = written || len(q.outs) > 0
	}
	return false
}

// specialize gives the program in which the inputs of splat are one element a row.
func (p *Program) specialize(splat []bool) *Program {
	q := *p
	q.nodes = append([]node(nil), p.nodes...)
	q.row = append([]bool(nil), p.row...)
	q.ins = append([]slot(nil), p.ins...)
	for i := range q.ins {
		if splat[i] {
			q.ins[i].row = true
			if v := q.ins[i].value; v != 0 {
				q.nodes[v].op = OpRowIn
			}
		}
	}
	for v := 1; v < len(q.nodes); v++ {
		n := &q.nodes[v]
		if sigs[n.op].reduce {
			continue
		}
		row := n.op != OpIn && n.op != OpColumn
		for _, a := range n.args[:sigs[n.op].args] {
			row = row && q.row[a]
		}
		q.row[v] = row
	}
	return &q
}
