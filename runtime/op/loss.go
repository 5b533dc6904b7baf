package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Names of the losses.
const (
	MSELoss                  Name = "mse_loss"
	L1Loss                   Name = "l1_loss"
	SmoothL1Loss             Name = "smooth_l1_loss"
	HuberLoss                Name = "huber_loss"
	BinaryCrossEntropy       Name = "binary_cross_entropy"
	BCEWithLogits            Name = "binary_cross_entropy_with_logits"
	KLDiv                    Name = "kl_div"
	HingeEmbeddingLoss       Name = "hinge_embedding_loss"
	MarginRankingLoss        Name = "margin_ranking_loss"
	SoftMarginLoss           Name = "soft_margin_loss"
	GaussianNLLLoss          Name = "gaussian_nll_loss"
	PoissonNLLLoss           Name = "poisson_nll_loss"
	CosineEmbeddingLoss      Name = "cosine_embedding_loss"
	TripletMarginLoss        Name = "triplet_margin_loss"
	MultiMarginLoss          Name = "multi_margin_loss"
	MultilabelSoftMarginLoss Name = "multilabel_soft_margin_loss"
	CTCLoss                  Name = "ctc_loss"
	NLLLoss                  Name = "nll_loss"
	CrossEntropy             Name = "cross_entropy"
	smoothedNLL              Name = "smoothed_nll_loss"
	nllBackward              Name = "nll_loss_backward"
	crossEntropyBackward     Name = "cross_entropy_backward"
	ctcBackward              Name = "ctc_loss_backward"
)

func reductionParam() Param {
	return Param{Name: "reduction", Kind: KString, Default: "mean", Doc: "mean, sum or none"}
}

func ignoreParam() Param {
	return Param{Name: "ignore_index", Kind: KInt, Default: -100, Doc: "target that does not count"}
}

func smoothingParam() Param {
	return realParam("label_smoothing", 0, "share of the target spread over all classes")
}

// lossOps measure how far results are from targets.
var lossOps = join(pointLossOps, rowLossOps, labelLossOps, classLossOps)

var pointLossOps = []Def{
	{
		Name: MSELoss, Torch: "mse_loss", Func: "MSELoss", Class: Loss, Traits: Composite,
		Doc: "Mean of the squared differences.", Example: `tpu.MSELoss(tpu.Of(1.0, 2.0), tpu.Of(1.0, 4.0))`,
		Params: []Param{tensor("input"), tensor("target"), reductionParam(), opt("weight", "factor of each element")},
		Shape:  pointShape(MSELoss), DType: lossType(MSELoss), Grad: pointGrad(mseSlope),
		Kernel: kernel.MSELoss, Lower: pointHLO(mseHLO), Cost: perInput(3),
	},
	{
		Name: L1Loss, Torch: "l1_loss", Func: "L1Loss", Class: Loss, Traits: Composite,
		Doc: "Mean of the absolute differences.", Example: `tpu.L1Loss(tpu.Of(1.0, 2.0), tpu.Of(1.0, 4.0))`,
		Params: []Param{tensor("input"), tensor("target"), reductionParam(), opt("weight", "factor of each element")},
		Shape:  pointShape(L1Loss), DType: lossType(L1Loss), Grad: pointGrad(l1Slope),
		Kernel: kernel.L1Loss, Lower: pointHLO(l1HLO), Cost: perInput(3),
	},
	{
		Name: SmoothL1Loss, Torch: "smooth_l1_loss", Func: "SmoothL1Loss", Class: Loss, Traits: Composite,
		Doc: "Squared difference over 2·beta below beta, absolute difference less beta/2 above.", Example: `tpu.SmoothL1Loss(tpu.Of(1.0, 2.0), tpu.Of(1.0, 4.0))`,
		Params: []Param{tensor("input"), tensor("target"), reductionParam(), realParam("beta", 1, "where the square ends")},
		Shape:  smoothL1Shape, DType: lossType(SmoothL1Loss), Grad: pointGrad(smoothL1Slope),
		Kernel: kernel.SmoothL1Loss, Lower: pointHLO(smoothL1HLO), Cost: perInput(5),
	},
	{
		Name: HuberLoss, Torch: "huber_loss", Func: "HuberLoss", Class: Loss, Traits: Composite,
		Doc: "Half the squared difference up to delta, linear above.", Example: `tpu.HuberLoss(tpu.Of(1.0, 2.0), tpu.Of(1.0, 4.0))`,
		Params: []Param{tensor("input"), tensor("target"), reductionParam(), realParam("delta", 1, "where the square ends"), opt("weight", "factor of each element")},
		Shape:  huberShape, DType: lossType(HuberLoss), Grad: pointGrad(huberSlope),
		Kernel: kernel.HuberLoss, Lower: pointHLO(huberHLO), Cost: perInput(5),
	},
	{
		Name: BinaryCrossEntropy, Torch: "binary_cross_entropy", Func: "BinaryCrossEntropy", Class: Loss, Traits: Composite,
		Doc: "−(y·log x + (1−y)·log(1−x)) for probabilities x, logarithms clamped at −100.", Example: `tpu.BinaryCrossEntropy(tpu.Of(0.9, 0.2), tpu.Of(1.0, 0.0))`,
		Params: []Param{tensor("input"), tensor("target"), opt("weight", "factor of each element"), reductionParam()},
		Shape:  bceShape(BinaryCrossEntropy), DType: lossType(BinaryCrossEntropy), Grad: pointGrad(bceSlope),
		Kernel: kernel.BinaryCrossEntropy, Lower: pointHLO(bceHLO), Cost: perInputEUP(6),
	},
	{
		Name: BCEWithLogits, Torch: "binary_cross_entropy_with_logits", Func: "BinaryCrossEntropyWithLogits", Class: Loss, Traits: Composite,
		Doc: "Binary cross entropy of sigmoid(x), without overflow.", Example: `tpu.BinaryCrossEntropyWithLogits(tpu.Of(2.0, -1.0), tpu.Of(1.0, 0.0))`,
		Params: []Param{tensor("input"), tensor("target"), opt("weight", "factor of each element"), reductionParam(), opt("pos_weight", "factor of the positive part")},
		Shape:  bceShape(BCEWithLogits), DType: lossType(BCEWithLogits), Grad: pointGrad(bceLogitsSlope),
		Kernel: kernel.BinaryCrossEntropyWithLogits, Lower: pointHLO(bceLogitsHLO), Cost: perInputEUP(8),
	},
	{
		Name: KLDiv, Torch: "kl_div", Func: "KLDiv", Class: Loss, Traits: Composite,
		Doc: "y·(log y − x) for log-probabilities x.", Example: `tpu.KLDiv(tpu.Of(-1.0, -2.0), tpu.Of(0.4, 0.6))`,
		Params: []Param{tensor("input"), tensor("target"), {Name: "reduction", Kind: KString, Default: "mean", Doc: "mean, batchmean, sum or none"}, flag("log_target", false, "the target is a logarithm")},
		Shape:  pointShape(KLDiv), DType: lossType(KLDiv), Grad: pointGrad(klSlope),
		Kernel: kernel.KLDiv, Lower: pointHLO(klHLO), Cost: perInputEUP(4),
	},
	{
		Name: HingeEmbeddingLoss, Torch: "hinge_embedding_loss", Func: "HingeEmbeddingLoss", Class: Loss, Traits: Composite,
		Doc: "x where the target is 1, max(0, margin − x) where it is −1.", Example: `tpu.HingeEmbeddingLoss(tpu.Of(0.3, 0.3), tpu.Of(1.0, -1.0))`,
		Params: []Param{tensor("input"), tensor("target"), realParam("margin", 1, "distance wanted"), reductionParam()},
		Shape:  pointShape(HingeEmbeddingLoss), DType: lossType(HingeEmbeddingLoss), Grad: pointGrad(hingeSlope),
		Kernel: kernel.HingeEmbeddingLoss, Lower: pointHLO(hingeHLO), Cost: perInput(6),
	},
	{
		Name: MarginRankingLoss, Torch: "margin_ranking_loss", Func: "MarginRankingLoss", Class: Loss, Traits: Composite,
		Doc: "max(0, −y·(x1−x2) + margin).", Example: `tpu.MarginRankingLoss(tpu.Of(0.3), tpu.Of(0.5), tpu.Of(1.0))`,
		Params: []Param{tensor("input1"), tensor("input2"), tensor("target"), realParam("margin", 0, "distance wanted"), reductionParam()},
		Shape:  pointShape(MarginRankingLoss), DType: floating, Grad: pointGrad(rankingSlope),
		Kernel: kernel.MarginRankingLoss, Lower: pointHLO(rankingHLO), Cost: perInput(5),
	},
	{
		Name: SoftMarginLoss, Torch: "soft_margin_loss", Func: "SoftMarginLoss", Class: Loss, Traits: Composite,
		Doc: "log(1 + e^(−x·y)).", Example: `tpu.SoftMarginLoss(tpu.Of(0.3, 0.5), tpu.Of(1.0, -1.0))`,
		Params: []Param{tensor("input"), tensor("target"), reductionParam()},
		Shape:  pointShape(SoftMarginLoss), DType: lossType(SoftMarginLoss), Grad: pointGrad(softMarginSlope),
		Kernel: kernel.SoftMarginLoss, Lower: pointHLO(softMarginHLO), Cost: perInputEUP(4),
	},
	{
		Name: GaussianNLLLoss, Torch: "nn.functional.gaussian_nll_loss", Func: "GaussianNLLLoss", Class: Loss, Traits: Composite,
		Doc: "(log v + (x−y)²/v)/2, v the variance, at least eps.", Example: `tpu.GaussianNLLLoss(tpu.Of(1.0), tpu.Of(2.0), tpu.Of(0.5))`,
		Params: []Param{tensor("input"), tensor("target"), tensor("var"), flag("full", false, "add the constant"), epsParam(1e-6), reductionParam()},
		Shape:  gaussianShape, DType: lossType(GaussianNLLLoss), Grad: gaussianGrad,
		Kernel: kernel.GaussianNLLLoss, Lower: gaussianLower, Cost: perInputEUP(6),
	},
	{
		Name: PoissonNLLLoss, Torch: "poisson_nll_loss", Func: "PoissonNLLLoss", Class: Loss, Traits: Composite,
		Doc: "e^x − y·x, or x − y·log(x+eps).", Example: `tpu.PoissonNLLLoss(tpu.Of(1.0), tpu.Of(2.0))`,
		Params: []Param{tensor("input"), tensor("target"), flag("log_input", true, "x is the logarithm of the rate"), flag("full", false, "add Stirling's term"), epsParam(1e-8), reductionParam()},
		Shape:  pointShape(PoissonNLLLoss), DType: floating, Grad: pointGrad(poissonSlope),
		Kernel: kernel.PoissonNLLLoss, Lower: pointHLO(poissonHLO), Cost: perInputEUP(4),
	},
}

// checkReduction refuses an unknown reduction.
func checkReduction(n Name, a Attrs) error {
	r := a.Str("reduction")
	switch r {
	case "none", "mean", "sum":
		return nil
	case "batchmean":
		if n == KLDiv {
			return nil
		}
	}
	return &shape.ArgumentError{Op: string(n), Arg: "reduction", Value: r, Why: "no such reduction"}
}

// afterReduction is the shape of the losses of dims, reduced.
func afterReduction(a Attrs, dims []int) []int {
	if a.Str("reduction") == "none" {
		return dims
	}
	return []int{}
}

// pointShape is the shape of a loss of elements.
func pointShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		if err := checkReduction(n, a); err != nil {
			return nil, err
		}
		dims, err := shape.BroadcastAll(string(n), in...)
		return afterReduction(a, dims), err
	}
}

func positive(n Name, arg string, zero bool, rule func(in []shape.Spec, a Attrs) ([]int, error)) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		if v := a.Float(arg); v < 0 || v == 0 && !zero {
			return nil, &shape.ArgumentError{Op: string(n), Arg: arg, Value: v, Why: "too small"}
		}
		return rule(in, a)
	}
}

var (
	smoothL1Shape = positive(SmoothL1Loss, "beta", true, pointShape(SmoothL1Loss))
	huberShape    = positive(HuberLoss, "delta", false, pointShape(HuberLoss))
)

// bceShape wants input and target of one size.
func bceShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	rule := pointShape(n)
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		if !shape.EqualDims(in[0].Dims, in[1].Dims) {
			return nil, &shape.MismatchError{Op: string(n), Left: in[0], Right: in[1], Axis: -1, Why: "input and target differ"}
		}
		return rule(in, a)
	}
}

// lossType is the common type of input and target, which must be floating-point.
func lossType(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		t, err := resultType(in[0], in[1])
		if err == nil && !t.IsFloat() {
			return dtype.Invalid, &TypeError{Op: string(n), Arg: "input", DType: t, Want: "a float"}
		}
		return t, err
	}
}

// pointGrad makes the gradient rule of a loss of elements from its slopes: f
// gives one for each input, nil for none, as factors of g, the gradient of an element.
func pointGrad(f func(k calc, c *Call) []Value) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		k := calc{b}
		var dims []int
		for _, x := range c.In {
			if x != nil {
				dims, _ = shape.Broadcast(dims, x.Spec().Dims)
			}
		}
		g := dy[0]
		switch c.Attrs.Str("reduction") {
		case "mean":
			g = k.div(g, shape.Size(dims))
		case "batchmean":
			if len(dims) > 0 {
				g = k.div(g, dims[0])
			}
		}
		out := f(k, c)
		for i, s := range out {
			if s != nil && c.In[i] != nil && c.In[i].Spec().DType.IsFloat() {
				out[i] = k.fit(k.expand(k.mul(s, g), dims), c.In[i].Spec())
			} else {
				out[i] = nil
			}
		}
		return append(out, make([]Value, len(c.In)-len(out))...)
	}
}

// weighted multiplies slopes by the optional factor at position w.
func weighted(k calc, c *Call, w int, slopes ...Value) []Value {
	if w < len(c.In) && c.In[w] != nil {
		for i, s := range slopes {
			if s != nil {
				slopes[i] = k.mul(s, c.In[w])
			}
		}
	}
	return slopes
}

func mseSlope(k calc, c *Call) []Value {
	d := k.sub(c.In[0], c.In[1])
	s := k.mul(d, 2)
	return append(weighted(k, c, 2, s, k.neg(s)), k.mul(d, d))[:len(c.In)]
}

func l1Slope(k calc, c *Call) []Value {
	d := k.sub(c.In[0], c.In[1])
	s := k.sign(d)
	return append(weighted(k, c, 2, s, k.neg(s)), k.abs(d))[:len(c.In)]
}

func smoothL1Slope(k calc, c *Call) []Value {
	d, beta := k.sub(c.In[0], c.In[1]), c.Attrs.Float("beta")
	s := k.sign(d)
	if beta > 0 {
		s = k.where(k.lt(k.abs(d), beta), k.div(d, beta), s)
	}
	return []Value{s, k.neg(s)}
}

func huberSlope(k calc, c *Call) []Value {
	d, delta := k.sub(c.In[0], c.In[1]), c.Attrs.Float("delta")
	a := k.abs(d)
	small := k.le(a, delta)
	s := k.where(small, d, k.mul(k.sign(d), delta))
	value := k.where(small, k.div(k.mul(d, d), 2), k.mul(k.sub(a, delta/2), delta))
	return append(weighted(k, c, 2, s, k.neg(s)), value)[:len(c.In)]
}

func bceSlope(k calc, c *Call) []Value {
	x, y := c.In[0], c.In[1]
	d := k.mul(x, k.sub(1, x))
	d = k.where(k.lt(d, 1e-12), 1e-12, d)
	dt := k.sub(k.log(k.sub(1, x)), k.log(x))
	return weighted(k, c, 2, k.div(k.sub(x, y), d), dt)
}

func bceLogitsSlope(k calc, c *Call) []Value {
	x, y := c.In[0], c.In[1]
	dx := k.sub(k.do("sigmoid", x), y)
	dt := k.neg(x)
	if len(c.In) > 3 && c.In[3] != nil {
		over := k.sub(c.In[3], 1)
		lw := k.add(k.mul(over, y), 1)
		dx = k.sub(k.sub(1, y), k.mul(lw, k.do("sigmoid", k.neg(x))))
		dt = k.sub(k.neg(x), k.mul(over, k.do("log_sigmoid", x)))
	}
	return weighted(k, c, 2, dx, dt)
}

func klSlope(k calc, c *Call) []Value {
	x, y := c.In[0], c.In[1]
	if c.Attrs.Bool("log_target") {
		e := k.exp(y)
		return []Value{k.neg(e), k.mul(e, k.add(k.sub(y, x), 1))}
	}
	dt := k.sub(k.add(k.log(k.where(k.gt(y, 0), y, 1)), 1), x)
	return []Value{k.neg(y), k.where(k.gt(y, 0), dt, k.neg(x))}
}

func hingeSlope(k calc, c *Call) []Value {
	x, y, margin := c.In[0], c.In[1], c.Attrs.Float("margin")
	one := k.Full(shape.Of(x.Spec().DType), 1)
	near := k.where(k.ne(y, -1), one, 0)
	far := k.where(k.gt(k.sub(margin, x), 0), k.neg(one), 0)
	return []Value{k.add(near, k.where(k.ne(y, 1), far, 0)), nil}
}

func rankingSlope(k calc, c *Call) []Value {
	y, d := c.In[2], k.sub(c.In[0], c.In[1])
	active := k.gt(k.add(k.neg(k.mul(y, d)), c.Attrs.Float("margin")), 0)
	s := k.where(active, k.neg(y), 0)
	return []Value{s, k.neg(s), k.where(active, k.neg(d), 0)}
}

func softMarginSlope(k calc, c *Call) []Value {
	x, y := c.In[0], c.In[1]
	s := k.neg(k.do("sigmoid", k.neg(k.mul(x, y))))
	return []Value{k.mul(s, y), k.mul(s, x)}
}

// perRow says whether the variance is one number for each row of the input.
func perRow(x, v []int) bool {
	return len(v) == len(x)-1 && shape.EqualDims(v, x[:len(v)])
}

func gaussianShape(in []shape.Spec, a Attrs) ([]int, error) {
	rule := pointShape(GaussianNLLLoss)
	if x, v := in[0], in[2]; perRow(x.Dims, v.Dims) {
		v.Dims = append(slices.Clone(v.Dims), 1)
		return rule([]shape.Spec{x, in[1], v}, a)
	}
	return rule(in, a)
}

func gaussianGrad(b Builder, c *Call, dy []Value) []Value {
	k, rule := calc{b}, pointGrad(gaussianSlope)
	v := c.In[2]
	if d := v.Spec().Dims; perRow(c.In[0].Spec().Dims, d) {
		wide := *c
		wide.In = []Value{c.In[0], c.In[1], k.reshape(v, append(slices.Clone(d), 1))}
		out := rule(b, &wide, dy)
		out[2] = k.reshape(out[2], d)
		return out
	}
	return rule(b, c, dy)
}

func gaussianLower(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	if d := c.In[2].Spec.Dims; perRow(c.In[0].Spec.Dims, d) {
		wide := *c
		wide.In = []stablehlo.Value{c.In[0], c.In[1], w.Reshape(c.In[2], append(slices.Clone(d), 1))}
		c = &wide
	}
	return pointHLO(gaussianHLO)(w, c)
}

func gaussianSlope(k calc, c *Call) []Value {
	v, eps := c.In[2], c.Attrs.Float("eps")
	w := k.where(k.lt(v, eps), eps, v)
	d := k.sub(c.In[0], c.In[1])
	s := k.div(d, w)
	return []Value{s, k.neg(s), k.div(k.sub(k.div(1, w), k.mul(s, s)), 2)}
}

func poissonSlope(k calc, c *Call) []Value {
	x, y := c.In[0], c.In[1]
	var dx, dt Value
	if c.Attrs.Bool("log_input") {
		dx, dt = k.sub(k.exp(x), y), k.neg(x)
	} else {
		shifted := k.add(x, c.Attrs.Float("eps"))
		dx, dt = k.sub(1, k.div(y, shifted)), k.neg(k.log(shifted))
	}
	if c.Attrs.Bool("full") {
		big := k.gt(y, 1)
		safe := k.where(big, y, 1)
		dt = k.add(dt, k.where(big, k.add(k.log(safe), k.div(0.5, safe)), 0))
	}
	return []Value{dx, dt}
}
