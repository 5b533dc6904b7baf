package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/tpu"
)

// linalgForms are PyTorch's functions of matrices that the tensor layer has
// under another name or with other arguments. Factorizations that are not
// unique come back as the recordings have them: put together again.
func linalgForms() map[string]func(c *composite) []*tpu.Tensor {
	return map[string]func(c *composite) []*tpu.Tensor{
		"inv_ex":      func(c *composite) []*tpu.Tensor { return withInfo(c.t(0).Inv()) },
		"cholesky_ex": func(c *composite) []*tpu.Tensor { return withInfo(c.row("cholesky")[0]) },
		"pinverse":    pinv, "pinv": pinv,
		"inverse": func(c *composite) []*tpu.Tensor { return list1(c.t(0).Inv()) },
		"solve_ex": func(c *composite) []*tpu.Tensor {
			out := c.row("solve")[0]
			return []*tpu.Tensor{out, tpu.I32.Zeros(c.t(0).Dims()[:c.t(0).Rank()-2]...)}
		},
		"matrix_rank": func(c *composite) []*tpu.Tensor { return list1(c.t(0).MatrixRank(c.rankOptions())) },
		"matrix_power": func(c *composite) []*tpu.Tensor {
			return list1(c.t(0).MatrixPower(whole(c.num(1, "n", 0))))
		},
		"cond": func(c *composite) []*tpu.Tensor {
			if p := c.order(1, "p"); p != nil {
				return list1(c.t(0).Cond(p))
			}
			return list1(c.t(0).Cond())
		},
		"eigvalsh": func(c *composite) []*tpu.Tensor {
			return list1(c.t(0).EigValsH(tpu.EigHOptions{UPLO: c.text(1, "UPLO", "L")}))
		},
		"svdvals": func(c *composite) []*tpu.Tensor { return list1(c.t(0).SVDVals()) },
		"lu_factor": func(c *composite) []*tpu.Tensor {
			return c.row("lu_factor_ex")[:2]
		},
		"lu": func(c *composite) []*tpu.Tensor {
			pivot := tpu.LUFactorExOptions{Pivot: yes(c.num(1, "pivot", true))}
			if c.r.Op == "lu" { // torch.lu keeps the factors together
				f, p, info := c.t(0).LUFactorEx(pivot)
				if yes(c.num(2, "get_infos", false)) {
					return []*tpu.Tensor{f, p, info}
				}
				return []*tpu.Tensor{f, p}
			}
			p, l, u := c.t(0).LU(pivot)
			return []*tpu.Tensor{p, l, u}
		},
		"lu_solve": func(c *composite) []*tpu.Tensor {
			if c.r.Op == "lu_solve" { // torch.lu_solve has the right side first
				return list1(tpu.LUSolve(c.t(1), c.t(2), c.t(0)))
			}
			return c.row("lu_solve")
		},
		"ldl_factor":          func(c *composite) []*tpu.Tensor { return c.row("ldl_factor_ex")[:2] },
		"householder_product": func(c *composite) []*tpu.Tensor { return list1(c.t(0).HouseholderProduct(c.t(1))) },
		"orgqr":               func(c *composite) []*tpu.Tensor { return list1(c.t(0).HouseholderProduct(c.t(1))) },
		"polar":               func(c *composite) []*tpu.Tensor { u, h := c.t(0).Polar(); return []*tpu.Tensor{u, h} },
		"lstsq": func(c *composite) []*tpu.Tensor {
			o := c.rankOptions()
			if v := c.num(2, "rcond", nil); v != nil {
				o.RTol = v
			}
			x, res, rank := c.t(0).LstSq(c.t(1), o)
			if driver := c.text(-1, "driver", "gelsy"); driver == "gelsy" {
				res = res.DType().Zeros(0)
			}
			return []*tpu.Tensor{x, res, rank, tpu.F32.Zeros(0)}[:len(c.r.Outputs)]
		},
		"tensorinv": func(c *composite) []*tpu.Tensor { return list1(c.t(0).TensorInv(whole(c.num(1, "ind", 2)))) },
		"tensorsolve": func(c *composite) []*tpu.Tensor {
			var dims []int
			if l, ok := c.r.Attrs["dims"].([]any); ok {
				dims = ints(l)
			}
			return list1(c.t(0).TensorSolve(c.t(1), dims...))
		},
		"vander": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			x = x.AtLeast1D()
			n := whole(c.num(1, "N", x.Dim(-1)))
			if c.r.Op == "linalg.vander" || yes(c.num(2, "increasing", false)) {
				if !x.DType().IsFloat() {
					x = x.To(tpu.I64)
				}
				return list1(x.VanderIncreasing(n))
			}
			return list1(x.Vander(n))
		},
		"vecdot":    func(c *composite) []*tpu.Tensor { return list1(c.t(0).VecDot(c.t(1), c.dim(2, -1))) },
		"multi_dot": func(c *composite) []*tpu.Tensor { return list1(tpu.MultiDot(c.tensorsOf()...)) },
		"triangular_solve": func(c *composite) []*tpu.Tensor {
			a := c.t(1)
			upper := yes(c.num(2, "upper", true))
			if yes(c.num(3, "transpose", false)) {
				a, upper = a.T(), !upper
			}
			x := a.SolveTriangular(c.t(0), upper, tpu.SolveTriangularOptions{Unitriangular: yes(c.num(4, "unitriangular", false))})
			return []*tpu.Tensor{x, c.t(1).Clone()}
		},
		"qr": func(c *composite) []*tpu.Tensor {
			mode := c.text(1, "mode", "reduced")
			if v, ok := c.num(1, "some", nil).(bool); ok && !v {
				mode = "complete"
			}
			q, r := c.t(0).QR(tpu.QROptions{Mode: mode})
			s := r.Diagonal(tpu.DiagonalOptions{Dim1: -2, Dim2: -1}).Detach().Sign()
			s = tpu.Where(s.Eq(0), 1.0, s)
			k := s.Dim(-1)
			if rest := r.Dim(-2) - k; rest > 0 {
				s = tpu.Cat(-1, s, r.DType().Ones(append(s.Dims()[:s.Rank()-1], rest)...))
			}
			return []*tpu.Tensor{q.MatMul(r), r.Mul(s.Unsqueeze(-1))}
		},
		"eigh": func(c *composite) []*tpu.Tensor {
			l, v := c.t(0).EigH(tpu.EigHOptions{UPLO: c.text(1, "UPLO", "L")})
			return []*tpu.Tensor{v.Mul(l.Unsqueeze(-2)).MatMul(v.T()), l}
		},
		"svd": func(c *composite) []*tpu.Tensor {
			u, s, v := c.t(0).SVD()
			return []*tpu.Tensor{u.Mul(s.Unsqueeze(-2)).MatMul(v), s}
		},
	}
}

func pinv(c *composite) []*tpu.Tensor {
	o := c.rankOptions()
	tensor := func(x any) *tpu.Tensor {
		switch x := x.(type) {
		case nil:
			return nil
		case *tpu.Tensor:
			return x
		default:
			return c.t(0).DType().Full(x)
		}
	}
	return list1(c.t(0).PInv(tpu.PInvOptions{Atol: tensor(o.ATol), Rtol: tensor(o.RTol), Hermitian: o.Hermitian}))
}

// row runs the record as a row of another name.
func (c *composite) row(name string) []*tpu.Tensor {
	r := *c.r
	r.Op = name
	return c.ts.row(&r)
}

// text is positional argument i or a keyword as a string, or a default.
func (c *composite) text(i int, name, or string) string {
	if s, ok := c.r.Attrs[name].(string); ok {
		return s
	}
	if i >= 0 && i < len(c.r.Inputs) && c.r.Inputs[i].Kind == conformance.String {
		return c.r.Inputs[i].Str
	}
	return or
}

// order is the order of a norm: a number, a name or nil.
func (c *composite) order(i int, name string) any {
	if s := c.text(i, name, ""); s != "" {
		if s == "Infinity" || s == "-Infinity" {
			return float(s)
		}
		return s
	}
	return c.num(i, name, nil)
}

// rankOptions reads the tolerances of pinv and matrix_rank.
func (c *composite) rankOptions() (o tpu.RankOptions) {
	read := func(name string) any {
		if t := c.tensor(-1, name); t != nil {
			return t
		}
		v := c.r.Attrs[name]
		if s, ok := v.(string); ok {
			return float(s)
		}
		return v
	}
	o.ATol, o.RTol = read("atol"), read("rtol")
	if v := read("rcond"); v != nil && o.RTol == nil {
		o.RTol = v
	}
	if v := read("tol"); v != nil {
		o.ATol, o.RTol = v, 0.0
	}
	o.Hermitian = yes(c.num(-1, "hermitian", false))
	return o
}
