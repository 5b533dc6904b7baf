package dtype

import "testing"

// FuzzPromotion: the common type does not depend on the order of the operands,
// is refused in either order or in none, and takes what it was made of.
func FuzzPromotion(f *testing.F) {
	for i := range uint8(12) {
		f.Add(i, i*3, i*7, i%3, i%2, uint8(2))
	}
	all := All()
	f.Fuzz(func(t *testing.T, a, b, c, ca, cb, cc uint8) {
		ops := []Operand{
			{all[int(a)%len(all)], Category(ca % 3)}, {all[int(b)%len(all)], Category(cb % 3)}, {all[int(c)%len(all)], Category(cc % 3)},
		}
		for n := 1; n <= len(ops); n++ {
			d, err := ResultType(ops[:n]...)
			for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				var l []Operand
				for _, i := range order {
					if i < n {
						l = append(l, ops[i])
					}
				}
				e, err2 := ResultType(l...)
				if n == 2 && ((err == nil) != (err2 == nil) || d != e) {
					t.Fatalf("%v is %v, %v; %v is %v, %v", ops[:n], d, err, l, e, err2)
				}
				if err == nil && err2 == nil && d != e {
					t.Fatalf("%v is %v, %v is %v", ops[:n], d, l, e)
				}
			}
			if err != nil {
				continue
			}
			for _, o := range ops[:n] {
				if !CanCast(o.DType, d) && o.Category != Number && Default(o.DType).Kind() > d.Kind() {
					t.Fatalf("%v is %v, which does not take %v", ops[:n], d, o.DType)
				}
				if again, err := ResultType(Operand{d, Dim}, o); o.Category == Dim && (err != nil || again != d) && d.IsComplex() == o.DType.IsComplex() {
					t.Fatalf("%v with %v is %v, %v", d, o, again, err)
				}
			}
		}
	})
}
