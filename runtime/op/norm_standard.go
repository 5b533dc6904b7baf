package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// wholeNorm declares normalized_shape.
func wholeNorm() Param {
	return Param{Name: "normalized_shape", Kind: KInts, Doc: "sizes of the last axes, which are standardized together"}
}

var standardOps = []Def{
	{
		Name: standardize, Torch: "native_layer_norm", Class: Normalize, Traits: Composite,
		Doc:    "Subtract the mean over the axes (unless center is false) and divide by √(variance+eps).",
		Params: []Param{tensor("self"), dimsParam(), flag("center", true, "subtract the mean"), epsParam(1e-5)},
		Shape:  likeInput, DType: floatOnly(standardize), Grad: standardizeGrad,
		Kernel: kernel.Standardize, Lower: standardizeHLO, Cost: perInput(6),
	},
	{
		Name: standardizeBack, Torch: "native_layer_norm_backward", Class: Normalize, Traits: Composite,
		Doc:    "Gradient of standardize.",
		Params: []Param{tensor("grad"), tensor("self"), dimsParam(), flag("center", true, "the mean was subtracted"), epsParam(1e-5)},
		Shape:  likeInput, DType: floatOnly(standardizeBack), Grad: standardizeBackGrad,
		Kernel: kernel.StandardizeBackward, Lower: standardizeBackHLO, Cost: perInput(10),
	},
	{
		Name: LayerNorm, Torch: "layer_norm", Func: "LayerNorm", Class: Normalize, Traits: Composite,
		Doc: "Standardize over the last axes, then scale and shift by element.", Example: `tpu.LayerNorm(tpu.Of(1.0, 2.0, 4.0), []int{3})`,
		Params: []Param{tensor("input"), wholeNorm(), opt("weight", "scale of each element"), opt("bias", "shift of each element"), epsParam(1e-5)},
		Shape:  layerNormShape(LayerNorm), DType: affineType(LayerNorm), Grad: layerNormGrad,
		Kernel: kernel.LayerNorm, Lower: layerNormHLO, Cost: perInput(8),
	},
	{
		Name: RMSNorm, Torch: "rms_norm", Func: "RMSNorm", Class: Normalize, Traits: Composite,
		Doc: "Divide by the root of the mean square over the last axes, then scale by element.", Example: `tpu.RMSNorm(tpu.Of(1.0, 2.0, 4.0), []int{3})`,
		Params: []Param{tensor("input"), wholeNorm(), opt("weight", "scale of each element"), {Name: "eps", Kind: KFloat, Default: -1.0, Doc: "added to the mean square; below 0: the machine epsilon of the type"}},
		Shape:  layerNormShape(RMSNorm), DType: affineType(RMSNorm), Grad: rmsNormGrad,
		Kernel: kernel.RMSNorm, Lower: rmsNormHLO, Cost: perInput(6),
	},
	{
		Name: GroupNorm, Torch: "group_norm", Func: "GroupNorm", Class: Normalize, Traits: Composite,
		Doc: "Standardize groups of channels of each batch element, then scale and shift by channel.", Example: `tpu.GroupNorm(tpu.Ones(1, 4, 2), 2)`,
		Params: []Param{tensor("input"), {Name: "num_groups", Kind: KInt, Doc: "how many groups the channels, axis 1, are cut into"}, opt("weight", "scale of each channel"), opt("bias", "shift of each channel"), epsParam(1e-5)},
		Shape:  groupNormShape, DType: affineType(GroupNorm), Grad: groupNormGrad,
		Kernel: kernel.GroupNorm, Lower: groupNormHLO, Cost: perInput(8),
	},
	{
		Name: BatchNorm, Torch: "batch_norm", Func: "BatchNorm", Class: Normalize, Traits: Composite, Results: []string{"output", "running_mean", "running_var"},
		Doc: "Standardize each channel over the batch, or by running statistics, then scale and shift; also the running statistics after this batch.", Example: `tpu.BatchNorm(tpu.From([][]float32{{1, 2}, {3, 6}}), tpu.BatchNormOptions{Training: true})`,
		Params: []Param{tensor("input"), opt("running_mean", "mean of each channel"), opt("running_var", "variance of each channel"), opt("weight", "scale of each channel"), opt("bias", "shift of each channel"),
			flag("training", false, "use the statistics of this batch"), realParam("momentum", 0.1, "share of this batch in the running statistics"), epsParam(1e-5)},
		Infer: batchNormInfer, Grad: batchNormGrad,
		Kernel: kernel.BatchNorm, Lower: batchNormHLO, Cost: perInput(8),
	},
	{
		Name: InstanceNorm, Torch: "instance_norm", Func: "InstanceNorm", Class: Normalize, Traits: Composite,
		Doc: "Standardize each channel of each batch element, then scale and shift by channel.", Example: `tpu.InstanceNorm(tpu.Ones(1, 2, 3))`,
		Params: []Param{tensor("input"), opt("running_mean", "mean of each channel"), opt("running_var", "variance of each channel"), opt("weight", "scale of each channel"), opt("bias", "shift of each channel"),
			flag("use_input_stats", true, "use the statistics of the input, not the running ones"), realParam("momentum", 0.1, "share of this batch in the running statistics"), epsParam(1e-5)},
		Shape: instanceNormShape, DType: affineType(InstanceNorm), Grad: instanceNormGrad,
		Kernel: kernel.InstanceNorm, Lower: instanceNormHLO, Cost: perInput(8),
	},
	{
		Name: LocalResponseNorm, Torch: "nn.functional.local_response_norm", Func: "LocalResponseNorm", Class: Normalize, Traits: Composite,
		Doc: "Divide by (k + alpha·mean square over neighbouring channels)^beta.", Example: `tpu.LocalResponseNorm(tpu.Ones(1, 4, 2), 2)`,
		Params: []Param{tensor("input"), {Name: "size", Kind: KInt, Doc: "how many channels"}, realParam("alpha", 1e-4, "factor"), realParam("beta", 0.75, "exponent"), realParam("k", 1, "added")},
		Shape:  lrnShape, DType: floatOnly(LocalResponseNorm), Grad: lrnGrad,
		Kernel: kernel.LocalResponseNorm, Lower: lrnHLO, Cost: perInputEUP(6),
	},
	{
		Name: "window_sum", Torch: "avg_pool1d", Class: Normalize,
		Doc:    "For each position of an axis the sum of the elements from before it to after it.",
		Params: []Param{tensor("self"), dimParam(), {Name: "before", Kind: KInt}, {Name: "after", Kind: KInt}},
		Shape:  alongShape("window_sum"), DType: floatOnly("window_sum"), Grad: windowSumGrad,
		Kernel: kernel.WindowSum, Lower: windowSumHLO, Cost: perInput(4),
	},
}

// affineType checks that the input is floating-point. The result has its type.
func affineType(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) { return floatOnly(n) }

func standardizeGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do(standardizeBack, c.Attrs, dy[0], c.In[0])}
}

// standardizeBackGrad: with x̂ = standardize(x), r = 1/√(variance+eps) and
// P g = r·(g − mean g − x̂·mean(g·x̂)) the rule is P dy, and P is symmetric. For x:
// the change of x̂ costs P of −r·(v·mean(dy·x̂) + dy·mean(v·x̂)), the change of r its share −r²·x̂/n.
func standardizeBackGrad(b Builder, c *Call, dy []Value) []Value {
	k, g, x, v := calc{b}, c.In[0], c.In[1], dy[0]
	axes := c.axes()
	center := c.Attrs.Bool("center")
	eps := c.Attrs.Float("eps")
	z := k.Do(standardize, c.Attrs, x)
	var variance Value
	if center {
		variance = k.Do(Var, at("dim", axes, "keepdim", true, "correction", 0.0), x)
	} else {
		variance = k.mean(k.mul(x, x), axes...)
	}
	r := k.div(1, k.sqrt(k.add(variance, eps)))
	gz, vz := k.mean(k.mul(g, z), axes...), k.mean(k.mul(v, z), axes...)
	cost := k.neg(k.mul(r, k.add(k.mul(v, gz), k.mul(g, vz))))
	dx := k.Do(standardizeBack, c.Attrs, cost, x)
	// n·(mean(v·g) − mean v·mean g − mean(v·x̂)·mean(g·x̂))
	share := k.sub(k.mean(k.mul(v, g), axes...), k.mul(gz, vz))
	if center {
		share = k.sub(share, k.mul(k.mean(v, axes...), k.mean(g, axes...)))
	}
	dx = k.sub(dx, k.mul(z, k.mul(share, k.mul(r, r))))
	return []Value{k.Do(standardizeBack, c.Attrs, v, x), dx}
}

func layerNormShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x, tail := in[0], a.Ints("normalized_shape")
		if len(tail) == 0 {
			return nil, &shape.ArgumentError{Op: string(n), Arg: "normalized_shape", Value: tail, Why: "has no axis"}
		}
		if len(tail) > len(x.Dims) || !shape.EqualDims(x.Dims[len(x.Dims)-len(tail):], tail) {
			return nil, &shape.MismatchError{Op: string(n), Left: x, Right: shape.Of(x.DType, tail...), Axis: -1, Why: "the last sizes are not the normalized shape"}
		}
		for _, p := range in[1:] {
			if p.Valid() && !shape.EqualDims(p.Dims, tail) {
				return nil, &shape.MismatchError{Op: string(n), Left: shape.Of(x.DType, tail...), Right: p, Axis: -1, Why: "a parameter does not have the normalized shape"}
			}
		}
		return x.Dims, nil
	}
}

// affineGrad gives the gradients of x̂·weight + bias for x̂, weight and bias,
// the last two reduced over the axes that they do not have; z nil: no gradient for weight.
func affineGrad(k calc, z, weight, bias, dy Value, dims []int) (dz, dw, db Value) {
	dz = dy
	if weight != nil {
		w := k.reshape(weight, dims)
		dz = k.to(k.mul(dy, w), dy.Spec().DType)
		if z != nil {
			dw = k.reshape(k.fit(k.mul(dy, z), like(w)), weight.Spec().Dims)
		}
	}
	if bias != nil {
		b := shape.Spec{DType: bias.Spec().DType, Dims: dims}
		db = k.reshape(k.fit(dy, b), bias.Spec().Dims)
	}
	return dz, dw, db
}

func layerNormGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	a := at("dim", lastAxes(x.Spec(), c.Attrs), "center", true, "eps", c.Attrs.Float("eps"))
	return normAffineGrad(k, c, x, 1, 2, a, c.Attrs.Ints("normalized_shape"), dy[0])
}

func rmsNormGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	a := at("dim", lastAxes(x.Spec(), c.Attrs), "center", false, "eps", kernel.RMSEpsilon(like(x), c.Attrs))
	return normAffineGrad(k, c, x, 1, -1, a, c.Attrs.Ints("normalized_shape"), dy[0])
}

// normAffineGrad is the gradient of standardize(x)·weight + bias; w and bias are
// positions among the inputs, dims the shape at which the parameters stretch over x.
func normAffineGrad(k calc, c *Call, x Value, w, bias int, a Attrs, dims []int, dy Value) []Value {
	out := make([]Value, len(c.In))
	input := func(i int) Value {
		if i < 0 || i >= len(c.In) {
			return nil
		}
		return c.In[i]
	}
	var z Value
	if input(w) != nil && (c.Needs == nil || c.Needs[w]) {
		z = k.Do(standardize, a, x)
	}
	dz, dw, db := affineGrad(k, z, input(w), input(bias), dy, dims)
	out[0] = k.Do(standardizeBack, a, dz, x)
	if input(w) != nil {
		out[w] = dw
	}
	if input(bias) != nil {
		out[bias] = db
	}
	return out
}

func lastAxes(x shape.Spec, a Attrs) []int {
	n := len(a.Ints("normalized_shape"))
	axes := make([]int, n)
	for i := range axes {
		axes[i] = len(x.Dims) - n + i
	}
	return axes
}

// channelParams checks that parameters have one element for each channel, axis 1.
func channelParams(n Name, in []shape.Spec) error {
	if len(in[0].Dims) < 2 {
		return &shape.RankError{Op: string(n), Dims: in[0].Dims, Min: 2, Max: -1}
	}
	for _, p := range in[1:] {
		if p.Valid() && !shape.EqualDims(p.Dims, in[0].Dims[1:2]) {
			return &shape.MismatchError{Op: string(n), Left: in[0], Right: p, Axis: 1, Why: "a parameter does not have one element for each channel"}
		}
	}
	return nil
}

func groupNormShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := channelParams(GroupNorm, in); err != nil {
		return nil, err
	}
	if g := a.Int("num_groups"); g < 1 || in[0].Dims[1]%g != 0 {
		return nil, &shape.MismatchError{Op: string(GroupNorm), Left: in[0], Right: shape.Spec{DType: dtype.I64, Dims: []int{g}}, Axis: 1, Why: "the channels do not divide into so many groups"}
	}
	return in[0].Dims, nil
}

// channelDims is the shape at which channel parameters stretch over x: [1, c, 1, …].
func channelDims(x shape.Spec) []int {
	dims := make([]int, len(x.Dims))
	for i := range dims {
		dims[i] = 1
	}
	dims[1] = x.Dims[1]
	return dims
}

// groupGrad is the gradient of a norm over groups of channels: x seen as [n, groups, …].
func groupGrad(k calc, c *Call, groups, w, bias int, dy Value) []Value {
	x := c.In[0]
	d := x.Spec().Dims
	cut := []int{d[0], groups, shape.Size(d[1:]) / max(groups, 1)}
	a := at("dim", []int{2}, "center", true, "eps", c.Attrs.Float("eps"))
	out := make([]Value, len(c.In))
	z := k.reshape(k.Do(standardize, a, k.reshape(x, cut)), d)
	dz, dw, db := affineGrad(k, z, c.In[w], c.In[bias], dy, channelDims(x.Spec()))
	out[0] = k.reshape(k.Do(standardizeBack, a, k.reshape(dz, cut), k.reshape(x, cut)), d)
	out[w], out[bias] = dw, db
	return out
}

func groupNormGrad(b Builder, c *Call, dy []Value) []Value {
	return groupGrad(calc{b}, c, c.Attrs.Int("num_groups"), 1, 2, dy[0])
}

func instanceNormShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := channelParams(InstanceNorm, in); err != nil {
		return nil, err
	}
	if !a.Bool("use_input_stats") && (!in[1].Valid() || !in[2].Valid()) {
		return nil, &shape.ArgumentError{Op: string(InstanceNorm), Arg: "use_input_stats", Value: false, Why: "running statistics are absent"}
	}
	if n := shape.Size(in[0].Dims[2:]); a.Bool("use_input_stats") && n == 1 {
		return nil, &shape.ArgumentError{Op: string(InstanceNorm), Arg: "input", Value: in[0], Why: "one value for each channel has no variance"}
	}
	return in[0].Dims, nil
}

func instanceNormGrad(b Builder, c *Call, dy []Value) []Value {
	if !c.Attrs.Bool("use_input_stats") {
		return byStatsGrad(calc{b}, c, dy[0])
	}
	return groupGrad(calc{b}, c, c.In[0].Spec().Dims[1], 3, 4, dy[0])
}

// byStatsGrad is the gradient of (x − mean)/√(variance+eps)·weight + bias; the statistics get none.
func byStatsGrad(k calc, c *Call, dy Value) []Value {
	x := c.In[0]
	dims := channelDims(x.Spec())
	r := k.div(1, k.sqrt(k.add(k.reshape(c.In[2], dims), c.Attrs.Float("eps"))))
	z := k.mul(k.sub(x, k.reshape(c.In[1], dims)), r)
	dz, dw, db := affineGrad(k, z, c.In[3], c.In[4], dy, dims)
	return []Value{k.to(k.mul(dz, r), x.Spec().DType), nil, nil, dw, db}
}

func batchNormInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	t, err := floatOnly(BatchNorm)(in, a)
	if err != nil {
		return nil, err
	}
	if err := channelParams(BatchNorm, in); err != nil {
		return nil, err
	}
	x := in[0]
	if a.Bool("training") {
		if x.Size() > 0 && x.Size() == x.Dims[1] {
			return nil, &shape.ArgumentError{Op: string(BatchNorm), Arg: "input", Value: x, Why: "one value for each channel has no variance"}
		}
	} else if !in[1].Valid() || !in[2].Valid() {
		return nil, &shape.ArgumentError{Op: string(BatchNorm), Arg: "training", Value: false, Why: "running statistics are absent"}
	}
	stat := func(p shape.Spec) shape.Spec {
		if p.Valid() {
			return shape.Spec{DType: p.DType, Dims: p.Dims}
		}
		return shape.Of(wide(t), x.Dims[1])
	}
	return []shape.Spec{{DType: t, Dims: x.Dims}, stat(in[1]), stat(in[2])}, nil
}

func batchNormGrad(b Builder, c *Call, dy []Value) []Value {
	if dy[0] == nil {
		return make([]Value, len(c.In))
	}
	k, x := calc{b}, c.In[0]
	if !c.Attrs.Bool("training") {
		return byStatsGrad(k, c, dy[0])
	}
	a := at("dim", keptAxes(len(x.Spec().Dims), []int{1}), "center", true, "eps", c.Attrs.Float("eps"))
	return normAffineGrad(k, c, x, 3, 4, a, channelDims(x.Spec()), dy[0])
}

func lrnShape(in []shape.Spec, a Attrs) ([]int, error) {
	if len(in[0].Dims) < 3 {
		return nil, &shape.RankError{Op: string(LocalResponseNorm), Dims: in[0].Dims, Min: 3, Max: -1}
	}
	if n := a.Int("size"); n < 1 {
		return nil, &shape.ArgumentError{Op: string(LocalResponseNorm), Arg: "size", Value: n, Why: "below 1"}
	}
	return in[0].Dims, nil
}

// lrnGrad of x·d^−beta, d = k + alpha/size·Σ x² over a window of channels.
func lrnGrad(b Builder, c *Call, dy []Value) []Value {
	k, x, g := calc{b}, c.In[0], dy[0]
	size, beta := c.Attrs.Int("size"), c.Attrs.Float("beta")
	f := c.Attrs.Float("alpha") / float64(size)
	before, after := size/2, (size-1)/2
	sum := func(v Value, before, after int) Value {
		return k.Do("window_sum", at("dim", 1, "before", before, "after", after), v)
	}
	d := k.add(k.mul(sum(k.mul(x, x), before, after), f), c.Attrs.Float("k"))
	inner := k.mul(k.mul(g, x), k.pow(d, -beta-1))
	back := k.mul(sum(inner, after, before), -2*beta*f)
	return []Value{k.add(k.mul(g, k.pow(d, -beta)), k.mul(x, back))}
}

func windowSumGrad(b Builder, c *Call, dy []Value) []Value {
	a := c.Attrs
	return []Value{b.Do("window_sum", at("dim", a.Int("dim"), "before", a.Int("after"), "after", a.Int("before")), dy[0])}
}
