package op

import (
	"strings"

	"github.com/tpush/tpush/runtime/kernel"
)

// PrecisionAttr is the attribute that the dispatcher adds to products when the
// precision is not the highest; rows do not declare it.
const PrecisionAttr = "precision"

// Product gives the operands that a row multiplies on the matrix unit and the
// one it adds to the product (-1: none); ok is false for rows that are no
// product, and nil factors are all operands.
func (d *Def) Product() (factors []int, add int, ok bool) {
	switch d.Name {
	case "matmul", "mm", "bmm", "mv", "dot", "vdot", "inner", "tensordot", "conv_input_grad", "conv_weight_grad":
		return []int{0, 1}, -1, true
	case "linear":
		return []int{0, 1}, 2, true
	case "addmm", "addmv", "addbmm", "baddbmm":
		return []int{1, 2}, 0, true
	case "einsum":
		return nil, -1, true // every operand
	}
	if strings.HasPrefix(string(d.Name), "conv") && d.Class == Contract {
		return []int{0, 1}, 2, true
	}
	return nil, 0, false
}

// Run computes a call, a product at its precision. Nothing runs when no result
// has an element, however large the other sizes are.
func (d *Def) Run(c *kernel.Call) error {
	empty := true
	for i := range c.Out {
		empty = empty && c.Out[i].Size() == 0
	}
	if empty {
		return nil
	}
	p := c.Attrs.Str(PrecisionAttr)
	if p == "" {
		return d.Kernel(c)
	}
	factors, add, ok := d.Product()
	if !ok {
		return d.Kernel(c)
	}
	if factors == nil {
		for i := range c.In {
			factors = append(factors, i)
		}
	}
	return kernel.InPasses(d.Kernel, c, factors, add, p)
}
