package op

import "github.com/tpush/tpush/runtime/kernel"

var softmaxOps = []Def{
	{
		Name: Softmax, Torch: "softmax.int", Method: "Softmax", Class: Normalize, Traits: Composite,
		Doc: "e^x divided by its sum along an axis.", Example: `tpu.Of(1.0, 2.0, 3.0).Softmax(0)`,
		Params: []Param{tensor("self"), dimParam(), dtypeParam()},
		Shape:  alongShape(Softmax), DType: floatOnly(Softmax), Grad: softmaxGrad,
		Kernel: kernel.Softmax, Lower: softmaxHLO(1), Cost: perInputEUP(5),
	},
	{
		Name: "softmax_backward", Torch: "_softmax_backward_data", Class: Normalize, Traits: Composite,
		Doc:    "Gradient of softmax from its result.",
		Params: []Param{tensor("grad"), tensor("output"), dimParam()},
		Shape:  likeInput, DType: sameType, Grad: softmaxBackwardGrad,
		Kernel: kernel.SoftmaxBackward, Lower: softmaxBackwardHLO, Cost: perInput(5),
	},
	{
		Name: LogSoftmax, Torch: "log_softmax.int", Method: "LogSoftmax", Class: Normalize, Traits: Composite,
		Doc: "Logarithm of softmax along an axis, without overflow.", Example: `tpu.Of(1.0, 2.0, 3.0).LogSoftmax(0)`,
		Params: []Param{tensor("self"), dimParam(), dtypeParam()},
		Shape:  alongShape(LogSoftmax), DType: floatOnly(LogSoftmax), Grad: logSoftmaxGrad,
		Kernel: kernel.LogSoftmax, Lower: logSoftmaxHLO, Cost: perInputEUP(5),
	},
	{
		Name: "log_softmax_backward", Torch: "_log_softmax_backward_data", Class: Normalize, Traits: Composite,
		Doc:    "Gradient of log_softmax from its result.",
		Params: []Param{tensor("grad"), tensor("output"), dimParam()},
		Shape:  likeInput, DType: sameType, Grad: logSoftmaxBackwardGrad,
		Kernel: kernel.LogSoftmaxBackward, Lower: logSoftmaxBackwardHLO, Cost: perInputEUP(4),
	},
	{
		Name: Softmin, Torch: "nn.functional.softmin", Method: "Softmin", Class: Normalize, Traits: Composite,
		Doc: "Softmax of the negative.", Example: `tpu.Of(1.0, 2.0, 3.0).Softmin(0)`,
		Params: []Param{tensor("self"), dimParam(), dtypeParam()},
		Shape:  alongShape(Softmin), DType: floatOnly(Softmin), Grad: softminGrad,
		Kernel: kernel.Softmin, Lower: softmaxHLO(-1), Cost: perInputEUP(6),
	},
}

func softmaxGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	g := k.Do("softmax_backward", at("dim", c.Attrs.Int("dim")), dy[0], c.Out[0])
	return []Value{k.to(g, c.In[0].Spec().DType)}
}

func softminGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{calc{b}.neg(softmaxGrad(b, c, dy)[0])}
}

// softmaxBackwardGrad: y·(g − Σ g·y) is linear in g with a symmetric matrix.
func softmaxBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	k, g, y, v := calc{b}, c.In[0], c.In[1], dy[0]
	axes := c.axes()
	s, vy := k.sum(k.mul(g, y), axes...), k.sum(k.mul(v, y), axes...)
	return []Value{
		k.Do("softmax_backward", c.Attrs, v, y),
		k.sub(k.mul(v, k.sub(g, s)), k.mul(g, vy)),
	}
}

func logSoftmaxGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	g := k.Do("log_softmax_backward", at("dim", c.Attrs.Int("dim")), dy[0], c.Out[0])
	return []Value{k.to(g, c.In[0].Spec().DType)}
}

// logSoftmaxBackwardGrad of g − e^y·Σ g.
func logSoftmaxBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	k, g, v := calc{b}, c.In[0], dy[0]
	axes := c.axes()
	vp := k.mul(v, k.exp(c.In[1]))
	return []Value{
		k.sub(v, k.sum(vp, axes...)),
		k.neg(k.mul(vp, k.sum(g, axes...))),
	}
}
