package op

// Names of the normalizations.
const (
	Softmax           Name = "softmax"
	LogSoftmax        Name = "log_softmax"
	Softmin           Name = "softmin"
	LayerNorm         Name = "layer_norm"
	RMSNorm           Name = "rms_norm"
	GroupNorm         Name = "group_norm"
	BatchNorm         Name = "batch_norm"
	InstanceNorm      Name = "instance_norm"
	LocalResponseNorm Name = "local_response_norm"
	UnitNorm          Name = "normalize"
	CosineSimilarity  Name = "cosine_similarity"
	PairwiseDistance  Name = "pairwise_distance"
	standardize       Name = "standardize"
	standardizeBack   Name = "standardize_backward"
)

func opt(name, doc string) Param { return Param{Name: name, Kind: KOptTensor, Doc: doc} }

func realParam(name string, def float64, doc string) Param {
	return Param{Name: name, Kind: KFloat, Default: def, Doc: doc}
}

func epsParam(def float64) Param {
	return realParam("eps", def, "added where a division by 0 threatens")
}

// normOps are softmax and what standardizes.
var normOps = join(softmaxOps, standardOps, nativeOps, distanceOps, maskedOps)
