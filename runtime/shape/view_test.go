package shape

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// addresses lists the element every index of v touches, in row-major order.
func addresses(v View) []int {
	out := []int{v.Offset}
	for i, d := range v.Dims {
		next := make([]int, 0, len(out)*d)
		for _, a := range out {
			for k := range d {
				next = append(next, a+k*v.Strides[i])
			}
		}
		out = next
	}
	return out
}

// at gives the address of one index.
func at(v View, idx []int) int {
	a := v.Offset
	for i, x := range idx {
		a += x * v.Strides[i]
	}
	return a
}

// indices enumerates all indices of dims in row-major order.
func indices(dims []int) [][]int {
	out := [][]int{{}}
	for _, d := range dims {
		var next [][]int
		for _, p := range out {
			for k := range d {
				next = append(next, append(append([]int{}, p...), k))
			}
		}
		out = next
	}
	return out
}

// TestViewsAreTheRecordedOnes compares sizes, strides and offsets with PyTorch's.
func TestViewsAreTheRecordedOnes(t *testing.T) {
	path := filepath.Join("testdata", "view.jsonl")
	for dir := ".."; ; dir = filepath.Join("..", dir) {
		abs, err := filepath.Abs(dir)
		if err != nil || abs == "/" {
			break
		}
		if p := filepath.Join(dir, "shared", "conformance", "view.jsonl"); fileExists(p) {
			path = p
			break
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	n := 0
	for s.Scan() {
		var r struct {
			ID, Op  string
			Inputs  []json.RawMessage
			Attrs   map[string]any
			Outputs json.RawMessage
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		var in struct {
			Shape, Strides, Storage []int
			Offset                  int
		}
		var full map[string]any
		if json.Unmarshal(r.Inputs[0], &full) != nil || full["shape"] == nil {
			continue
		}
		in.Shape = ints(full["shape"])
		v := Dense(in.Shape)
		if full["strides"] != nil {
			v = View{in.Shape, ints(full["strides"]), int(full["offset"].(float64))}
		}
		var outs []struct {
			Shape  []int
			Layout *struct {
				Strides []int
				Offset  int
			}
			Alias *int
		}
		if json.Unmarshal(r.Outputs, &outs) != nil || len(outs) != 1 {
			continue
		}
		got, ok, err := apply(r.Op, v, r.Attrs)
		if !ok {
			continue
		}
		n++
		t.Run(r.ID, func(t *testing.T) {
			var nv *NotViewableError
			if outs[0].Alias == nil && Size(outs[0].Shape) > 0 {
				if !errors.As(err, &nv) {
					t.Fatalf("%v, %v; PyTorch copies", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !EqualDims(got.Dims, outs[0].Shape) {
				t.Fatalf("%v, want sizes %v", got, outs[0].Shape)
			}
			if outs[0].Alias != nil && (!EqualDims(got.Strides, outs[0].Layout.Strides) || got.Offset != outs[0].Layout.Offset) {
				t.Fatalf("%v, want %+v", got, *outs[0].Layout)
			}
		})
	}
	if n < 20 {
		t.Fatalf("only %d records", n)
	}
	t.Logf("%d records", n)
}

func fileExists(p string) bool { _, err := os.Stat(p); return err == nil }

func ints(x any) []int {
	if f, ok := x.(float64); ok {
		return []int{int(f)}
	}
	out := []int{}
	for _, e := range x.([]any) {
		out = append(out, int(e.(float64)))
	}
	return out
}

// apply calls the method that stands for a recorded operation; ok is false when there is none.
func apply(name string, v View, attrs map[string]any) (w View, ok bool, err error) {
	num := func(k string, or int) int {
		if x, ok := attrs[k].(float64); ok {
			return int(x)
		}
		return or
	}
	list := func(k string) []int { return ints(attrs[k]) }
	const far = 1 << 40
	switch name {
	case "view", "reshape":
		w, err = v.As(name, list("shape"))
	case "ravel":
		w, err = v.As(name, []int{-1})
	case "permute":
		w, err = v.Permute(list("dims")...)
	case "transpose":
		w, err = v.Transpose(num("dim0", 0), num("dim1", 0))
	case "swapaxes":
		w, err = v.Transpose(num("axis0", 0), num("axis1", 0))
	case "movedim":
		perm, e := MoveAxes(name, len(v.Dims), list("source"), list("destination"))
		if e != nil {
			return w, true, e
		}
		w, err = v.Permute(perm...)
	case "mT", "adjoint":
		w, err = v.Transpose(-1, -2)
	case "expand":
		w, err = v.Expand(list("sizes")...)
	case "broadcast_to":
		w, err = v.Expand(list("size")...)
	case "squeeze":
		if attrs["dim"] == nil {
			w, err = v.Squeeze()
		} else {
			w, err = v.Squeeze(list("dim")...)
		}
	case "unsqueeze":
		w, err = v.Unsqueeze(num("dim", 0))
	case "select":
		w, err = v.Select(num("dim", 0), num("index", 0))
	case "slice":
		w, err = v.Slice(num("dim", 0), num("start", 0), num("end", far), num("step", 1))
	case "narrow":
		w, err = v.Narrow(num("dim", 0), num("start", 0), num("length", 0))
	case "diagonal":
		w, err = v.Diagonal(num("offset", 0), num("dim1", 0), num("dim2", 1))
	case "unfold":
		w, err = v.Unfold(num("dimension", 0), num("size", 0), num("step", 1))
	case "as_strided":
		w, err = AsStrided(list("size"), list("stride"), num("storage_offset", v.Offset), 1<<20)
	case "flatten":
		w, err = v.Flatten(num("start_dim", 0), num("end_dim", -1))
	case "unflatten":
		w, err = v.Unflatten(num("dim", 0), list("sizes")...)
	default:
		return w, false, nil
	}
	return w, true, err
}

// samples are views of all kinds: dense, transposed, with gaps, stretched, windowed, empty, 0-d.
func samples(t testing.TB) []View {
	d := Dense([]int{2, 3, 4})
	out := []View{d, Dense(nil), Dense([]int{5}), Dense([]int{0, 3}), Dense([]int{3, 1, 2, 1})}
	add := func(v View, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	add(d.Transpose(0, 2))
	add(d.Permute(1, 2, 0))
	add(d.Slice(2, 1, 4, 2))
	add(d.Slice(1, 1, 3, 1))
	add(d.Select(1, -1))
	add(Dense([]int{3, 1}).Expand(2, 3, 4))
	add(Dense([]int{6}).Unfold(0, 3, 1))
	add(Dense([]int{6}).Unfold(0, 2, 3))
	add(Dense([]int{4, 4}).Diagonal(1, 0, 1))
	add(Dense([]int{2, 3, 4}).Diagonal(-1, 2, 0))
	add(AsStrided([]int{3, 3}, []int{2, 3}, 1, 20))
	add(AsStrided([]int{2, 2, 2}, []int{5, 3, 1}, 0, 20))
	return out
}

func TestViewsAddressTheRightElements(t *testing.T) {
	for _, v := range samples(t) {
		check := func(name string, w View, err error, back func(idx []int) []int) {
			t.Helper()
			if err != nil {
				t.Errorf("%s of %v: %v", name, v, err)
				return
			}
			for _, idx := range indices(w.Dims) {
				if got, want := at(w, idx), at(v, back(idx)); got != want {
					t.Errorf("%s of %v gives %v: index %v is element %d, want %d", name, v, w, idx, got, want)
					return
				}
			}
		}
		n := len(v.Dims)
		drop := func(idx []int, a int) []int { return append(append([]int{}, idx[:a]...), idx[a+1:]...) }
		ins := func(idx []int, a, x int) []int { return append(append(append([]int{}, idx[:a]...), x), idx[a:]...) }
		for a := 0; a <= n; a++ {
			w, err := v.Unsqueeze(a)
			check("unsqueeze", w, err, func(idx []int) []int { return drop(idx, a) })
		}
		for a := range n {
			for b := range n {
				w, err := v.Transpose(a, b-n)
				check("transpose", w, err, func(idx []int) []int {
					idx = append([]int{}, idx...)
					idx[a], idx[b] = idx[b], idx[a]
					return idx
				})
			}
			for x := range v.Dims[a] {
				w, err := v.Select(a, x-v.Dims[a])
				check("select", w, err, func(idx []int) []int { return ins(idx, a, x) })
			}
			for start := range v.Dims[a] {
				for step := 1; step < 4; step++ {
					w, err := v.Slice(a, start, 1<<30, step)
					check("slice", w, err, func(idx []int) []int {
						idx = append([]int{}, idx...)
						idx[a] = start + idx[a]*step
						return idx
					})
				}
			}
			for size := 1; size <= v.Dims[a]; size++ {
				w, err := v.Unfold(a, size, 2)
				check("unfold", w, err, func(idx []int) []int {
					out := append([]int{}, idx[:n]...)
					out[a] = idx[a]*2 + idx[n]
					return out
				})
			}
		}
		w, err := v.Expand(append([]int{2}, v.Dims...)...)
		check("expand", w, err, func(idx []int) []int { return idx[1:] })
	}
}

// shapesOf lists all shapes of n elements with up to four axes.
func shapesOf(n, rank int) [][]int {
	if rank == 0 {
		if n == 1 {
			return [][]int{{}}
		}
		return nil
	}
	var out [][]int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			for _, r := range shapesOf(n/d, rank-1) {
				out = append(out, append([]int{d}, r...))
			}
		}
	}
	return out
}

// TestReshapeViewsExactlyWhenItCan compares with a search for strides over the addresses.
func TestReshapeViewsExactlyWhenItCan(t *testing.T) {
	for _, v := range samples(t) {
		n := Size(v.Dims)
		if n == 0 {
			continue
		}
		want := addresses(v)
		for rank := range 5 {
			for _, dims := range shapesOf(n, rank) {
				w, ok := v.Reshape(dims)
				if ok != viewable(want, dims) {
					t.Errorf("%v to %v: view %v", v, dims, ok)
				}
				if ok && !reflect.DeepEqual(addresses(w), want) {
					t.Errorf("%v to %v gives %v, other elements", v, dims, w)
				}
			}
		}
	}
}

// viewable says whether addresses in row-major order of dims are those of some strides.
func viewable(addr []int, dims []int) bool {
	v := View{Dims: dims, Strides: make([]int, len(dims)), Offset: addr[0]}
	dense := RowMajor(dims)
	for i, d := range dims {
		if d > 1 {
			v.Strides[i] = addr[dense[i]] - addr[0]
		}
	}
	return reflect.DeepEqual(addresses(v), addr)
}

func TestRefusals(t *testing.T) {
	d := Dense([]int{2, 3})
	_, e1 := d.Transpose(0, 2)
	_, e2 := d.Permute(0, 0)
	_, e3 := d.Permute(0)
	_, e4 := d.Select(1, 3)
	_, e5 := d.Slice(0, 0, 2, 0)
	_, e6 := d.Narrow(1, 2, 2)
	_, e7 := d.Expand(2, 4)
	_, e8 := d.Expand(3)
	_, e9 := d.Expand(-1, 2, 3)
	_, e10 := AsStrided([]int{3}, []int{2}, 0, 4)
	_, e11 := AsStrided([]int{2}, []int{-1}, 3, 4)
	_, e12 := d.Unfold(0, 4, 1)
	_, e13 := d.As("view", []int{4})
	_, e14 := d.As("view", []int{-1, -1})
	_, e15 := d.As("view", []int{-2, 3})
	tr, _ := d.Transpose(0, 1)
	_, e16 := tr.As("view", []int{6})
	_, e17 := d.Diagonal(0, 1, -1)
	_, e18 := Dense(nil).Select(0, 0)
	_, e19 := d.Squeeze(2)
	_, e20 := d.Unflatten(1, 2, -1)
	_, e21 := Axes("sum", []int{0, -2}, 2)
	e22 := CheckDims("zeros", []int{2, -3})
	e23 := CheckDims("zeros", []int{1 << 31, 1 << 31})
	_, e24 := BroadcastAll("add", Of(1, 2, 3), Of(1, 2, 4))
	_, e25 := d.Flatten(1, 0)
	_, e26 := InferSize("view", []int{0, -1}, 0)
	for i, c := range []struct {
		err  error
		want any
	}{
		{e1, &AxisError{}}, {e2, &ArgumentError{}}, {e3, &ArgumentError{}}, {e4, &IndexError{}}, {e5, &ArgumentError{}},
		{e6, &IndexError{}}, {e7, &ExpandError{}}, {e8, &ExpandError{}}, {e9, &ExpandError{}}, {e10, &ArgumentError{}},
		{e11, &ArgumentError{}}, {e12, &ArgumentError{}}, {e13, &CountError{}}, {e14, &ArgumentError{}}, {e15, &ArgumentError{}},
		{e16, &NotViewableError{}}, {e17, &ArgumentError{}}, {e18, &RankError{}}, {e19, &AxisError{}}, {e20, &CountError{}},
		{e21, &ArgumentError{}}, {e22, &SizeError{}}, {e23, &SizeError{}}, {e24, &MismatchError{}}, {e25, &ArgumentError{}}, {e26, &ArgumentError{}},
	} {
		if c.err == nil || reflect.TypeOf(c.err) != reflect.TypeOf(c.want) {
			t.Errorf("%d: %T %v, want %T", i+1, c.err, c.err, c.want)
		} else if c.err.Error() == "" {
			t.Errorf("%d: no text", i+1)
		}
	}
	var me *MismatchError
	if !errors.As(e24, &me) || me.Axis != 1 || me.Op != "add" {
		t.Errorf("%+v", e24)
	}
	if err := CheckDims("zeros", []int{1 << 40, 1 << 40, 0}); err != nil {
		t.Errorf("empty: %v", err)
	}
}
