package selftest

// givesMore are the operations whose rows give results that PyTorch's function
// gives only when asked, or not at all: running statistics, inverse and counts.
var givesMore = map[string]bool{"batch_norm": true, "unique": true, "unique_consecutive": true}
