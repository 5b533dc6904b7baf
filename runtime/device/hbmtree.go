package device

// The free blocks form a treap: a search tree by (Size, Addr) that is a heap by
// a pseudo-random priority, which keeps its depth near 2·log₂(n). The sequence
// of priorities is fixed, so placement repeats exactly.

// before is the order of the tree.
func (b *Block) before(c *Block) bool {
	return b.Size < c.Size || b.Size == c.Size && b.Addr < c.Addr
}

// A fit is the answer of the last search of the tree. It holds until a block
// enters or leaves the tree: one that is shortened in its place stays larger than
// the one before it, so the best block is the best until it is too small itself.
// Results of one size that follow one another are placed without a walk.
type fit struct {
	size    int64
	best    *Block
	smaller *Block // the last block before best, nil for none
}

// noFit is the size of a fit that holds no more.
const noFit = -1

// bestFit finds the smallest free block of at least size bytes, the lowest
// address among equals; nil when there is none. stays says that what is left of
// it when its first size bytes are taken has the same place in the tree.
func (h *HBM) bestFit(size int64) (best *Block, stays bool) {
	f := &h.fit
	if f.size != size || f.best.Size < size {
		if !h.search(size) {
			return nil, false
		}
	}
	return f.best, f.stays(f.best.Size-size, f.best.Addr+size)
}

// stays says whether the best block has the same place in the tree with this size and address.
func (f *fit) stays(size, addr int64) bool {
	s := f.smaller
	return s == nil || s.Size < size || s.Size == size && s.Addr < addr
}

// search walks the tree for bestFit and says whether there is a block.
func (h *HBM) search(size int64) bool {
	var best, smaller *Block
	for b := h.free; b != nil; {
		if b.Size >= size {
			best, b = b, b.left
		} else {
			smaller, b = b, b.right
		}
	}
	if best == nil {
		h.fit.size = noFit
		return false
	}
	h.fit = fit{size, best, smaller}
	return true
}

func (h *HBM) insertFree(b *Block) {
	h.fit.size = noFit
	h.random ^= h.random << 13
	h.random ^= h.random >> 17
	h.random ^= h.random << 5
	b.priority = h.random
	at := &h.free
	for *at != nil && (*at).priority >= b.priority {
		if b.before(*at) {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	// Split the subtree at *at around b.
	rest := *at
	*at = b
	left, right := &b.left, &b.right
	for rest != nil {
		if rest.before(b) {
			*left = rest
			left = &rest.right
			rest = *left
		} else {
			*right = rest
			right = &rest.left
			rest = *right
		}
	}
	*left, *right = nil, nil
}

func (h *HBM) removeFree(b *Block) {
	h.fit.size = noFit
	at := &h.free
	for *at != b {
		if b.before(*at) {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	left, right := b.left, b.right
	for left != nil && right != nil {
		if left.priority >= right.priority {
			*at = left
			at = &left.right
			left = *at
		} else {
			*at = right
			at = &right.left
			right = *at
		}
	}
	if left != nil {
		*at = left
	} else {
		*at = right
	}
	b.left, b.right = nil, nil
}
