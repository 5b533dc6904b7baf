//lint:file-ignore SA1019,SA4000,SA4004,SA4006,SA4011,SA4023,SA5000,S1000,S1021,S1034,ST1017,ST1023,U1000 these programs exercise odd corners on purpose

package programs

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

type Number interface {
	~int | ~int64 | ~float64
}

func SumOf[T Number](xs ...T) (t T) {
	for _, x := range xs {
		t += x
	}
	return
}
func MapOf[T, U any](xs []T, f func(T) U) []U {
	out := make([]U, 0, len(xs))
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}
func FilterOf[S ~[]E, E any](s S, keep func(E) bool) S {
	var out S
	for _, x := range s {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}
func ReduceOf[T, A any](xs []T, a A, f func(A, T) A) A {
	for _, x := range xs {
		a = f(a, x)
	}
	return a
}

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }
func (s *Stack[T]) Pop() (T, bool) {
	var zero T
	if len(s.items) == 0 {
		return zero, false
	}
	x := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, true
}
func (s Stack[T]) Len() int { return len(s.items) }

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func PairsOf[K comparable, V any](m map[K]V) []Pair[K, V] {
	var out []Pair[K, V]
	for k, v := range m {
		out = append(out, Pair[K, V]{k, v})
	}
	return out
}

type Tree[T any] struct {
	Left, Right *Tree[T]
	Val         T
}

func (t *Tree[T]) Insert(v T, less func(a, b T) bool) *Tree[T] {
	if t == nil {
		return &Tree[T]{Val: v}
	}
	if less(v, t.Val) {
		t.Left = t.Left.Insert(v, less)
	} else {
		t.Right = t.Right.Insert(v, less)
	}
	return t
}
func (t *Tree[T]) Walk(f func(T)) {
	if t != nil {
		t.Left.Walk(f)
		f(t.Val)
		t.Right.Walk(f)
	}
}

func F_gen_sum() string { return fmt.Sprint(SumOf(1, 2, 3), SumOf(1.5, 2), SumOf[int64]()) }
func F_gen_map() string {
	return fmt.Sprint(MapOf([]int{1, 2}, func(i int) string { return strings.Repeat("x", i) }))
}
func F_gen_filter() string {
	return fmt.Sprint(FilterOf([]int{1, 2, 3, 4}, func(i int) bool { return i%2 == 0 }))
}
func F_gen_reduce() string {
	return ReduceOf([]int{1, 2, 3}, "", func(a string, i int) string { return a + fmt.Sprint(i) })
}
func F_gen_stack() string {
	var s Stack[string]
	s.Push("a")
	s.Push("b")
	v, ok := s.Pop()
	return fmt.Sprint(v, ok, s.Len())
}
func F_gen_pair() string {
	p := PairsOf(map[string]int{"a": 1})
	return fmt.Sprint(p[0].Key, p[0].Val, len(p))
}
func F_gen_tree() string {
	var t *Tree[int]
	for _, v := range []int{3, 1, 2} {
		t = t.Insert(v, func(a, b int) bool { return a < b })
	}
	s := ""
	t.Walk(func(v int) { s += fmt.Sprint(v) })
	return s
}

type Animal interface{ Sound() string }
type Namer interface{ Name() string }
type Dog struct{ name string }
type Cat struct{ lives int }

func (d Dog) Sound() string  { return "woof" }
func (d *Dog) Name() string  { return d.name }
func (c *Cat) Sound() string { return fmt.Sprint("meow", c.lives) }
func sounds(as ...Animal) (s string) {
	for _, a := range as {
		s += a.Sound() + ";"
	}
	return
}
func F_ifaces() string { return sounds(Dog{"a"}, &Dog{"b"}, &Cat{9}) }
func F_iface_assert() string {
	var a Animal = &Dog{"rex"}
	n, ok := a.(Namer)
	_, ok2 := Animal(Dog{"x"}).(Namer)
	return fmt.Sprint(n.Name(), ok, ok2)
}
func kind(x any) string {
	switch v := x.(type) {
	case nil:
		return "nil"
	case int, int64:
		return fmt.Sprintf("int %v", v)
	case Dog:
		return "dog " + v.name
	case *Cat:
		return fmt.Sprint("cat ", v.lives)
	case error:
		return "error " + v.Error()
	case fmt.Stringer:
		return "stringer " + v.String()
	case []int:
		return fmt.Sprint("slice ", len(v))
	case func() int:
		return fmt.Sprint("func ", v())
	default:
		return fmt.Sprintf("other %T", v)
	}
}
func F_kinds() string {
	return strings.Join([]string{kind(nil), kind(1), kind(int64(2)), kind(Dog{"d"}), kind(&Cat{3}), kind(errors.New("e")), kind(Mon), kind([]int{1}),
		kind(func() int { return 7 }), kind(2.5), kind("s"), kind(P{1, 2})}, ",")
}
func F_map_iface_key() string {
	m := map[any]string{1: "int", "a": "str", P{1, 2}: "p", Mon: "day"}
	return m[1] + m["a"] + m[P{1, 2}] + m[Mon] + m[2]
}

type Base struct{ ID int }

func (b Base) Describe() string { return fmt.Sprint("base ", b.ID) }
func (b *Base) SetID(i int)     { b.ID = i }

type Derived struct {
	Base
	Name string
}
type Logger interface{ Log(string) string }
type LogFunc func(string) string

func (f LogFunc) Log(s string) string { return f(s) }
func F_embed_methods() string {
	d := Derived{Base{1}, "n"}
	d.SetID(5)
	return d.Describe() + d.Name + fmt.Sprint(d.ID, d)
}
func F_func_type_method() string {
	var l Logger = LogFunc(func(s string) string { return "<" + s + ">" })
	return l.Log("x")
}

type wrapErr struct {
	op  string
	err error
}

func (w *wrapErr) Error() string { return w.op + ": " + w.err.Error() }
func (w *wrapErr) Unwrap() error { return w.err }

var errBase = errors.New("base")

func F_err_unwrap() string {
	e := fmt.Errorf("outer: %w", &wrapErr{"read", errBase})
	var w *wrapErr
	return fmt.Sprint(errors.Is(e, errBase), errors.As(e, &w), w.op, e, errors.Unwrap(errors.Unwrap(e)) == errBase)
}
func deferOrder() (s string) {
	for i := 0; i < 3; i++ {
		defer func(n int) { s += fmt.Sprint(n, i) }(i * 10)
	}
	return "r"
}
func F_defer_result() string { return deferOrder() }
func safeDiv(a, b int) (r int, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("caught: %v", e)
		}
	}()
	return a / b, nil
}
func F_safe_div() string {
	r, e := safeDiv(6, 3)
	r2, e2 := safeDiv(1, 0)
	return fmt.Sprint(r, e, r2, e2)
}
func nestedRecover() (s string) {
	defer func() { s += fmt.Sprint("|outer:", recover()) }()
	defer func() {
		defer func() { s += fmt.Sprint("|inner:", recover()) }()
		panic("second")
	}()
	panic("first")
}
func F_nested_recover() string { return nestedRecover() }
func helperRecover(s *string) {
	if r := recover(); r != nil {
		*s = fmt.Sprint("helper ", r)
	}
}
func F_recover_helper() (s string) {
	func() {
		defer helperRecover(&s)
		panic(42)
	}()
	return s
}
func F_recover_not_deferred() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	func() { recover() }()
	panic("still")
}
func F_labels2() string {
	s := ""
outer:
	for i := 0; i < 3; i++ {
		for j := range 3 {
			switch {
			case j == 1 && i == 1:
				continue outer
			case i == 2:
				break outer
			}
			s += fmt.Sprint(i, j, " ")
		}
	}
	return s
}
func F_goto2() string {
	i := 0
loop:
	if i < 3 {
		i++
		goto loop
	}
	return fmt.Sprint(i)
}
func F_switch_forms() string {
	f := func(n int) string {
		switch {
		case n < 0:
			return "neg"
		case n == 0:
			fallthrough
		case n == 1:
			return "small"
		}
		switch x := n * 2; x {
		case 4, 6:
			return "mid"
		default:
			return "big"
		}
	}
	return f(-1) + f(0) + f(1) + f(2) + f(3) + f(9)
}

const (
	KB = 1 << (10 * (iota + 1))
	MB
)
const (
	fA, fB = iota, iota * 10
	fC, fD
)

type Weekday uint8

const (
	Sun Weekday = iota
	Monday
)

func (d Weekday) Next() Weekday { return (d + 1) % 7 }
func F_consts() string {
	return fmt.Sprint(KB, MB, fC, fD, Sun.Next(), Monday == Sun.Next(), 1<<3|1, 'a'+1, 7.0/2)
}
func F_shadow_types() string {
	type P struct{ A string }
	p := P{"local"}
	return fmt.Sprint(p, p.A)
}
func F_closure_counter2() string {
	mk := func() (func() int, func()) {
		n := 0
		return func() int { n++; return n }, func() { n = 100 }
	}
	inc, reset := mk()
	inc()
	reset()
	return fmt.Sprint(inc(), inc())
}
func F_closure_loop_vars() string {
	var fs []func() int
	for i := 0; i < 3; i++ {
		var sq int
		sq = i * i
		fs = append(fs, func() int { sq++; return sq + i })
	}
	for i, v := range []string{"a", "b"} {
		fs = append(fs, func() int { return i + len(v) })
	}
	s := ""
	for _, f := range fs {
		s += fmt.Sprint(f(), f(), " ")
	}
	return s
}
func F_loop_modify_captured() string {
	var fs []func() int
	for i := 0; i < 6; i++ {
		fs = append(fs, func() int { return i })
		i++
	}
	return fmt.Sprint(len(fs), fs[0](), fs[1]())
}
func F_arrays() string {
	a := [3]int{1, 2, 3}
	b := a
	b[0] = 9
	p := &a
	p[1] = 7
	return fmt.Sprint(a, b, a == b, len(p), [2]bool{true})
}
func F_maps_of_structs() string {
	m := map[string]Item{"a": {"x", 1}}
	it := m["a"]
	it.N = 5
	m["b"] = it
	delete(m, "zz")
	_, ok := m["zz"]
	return fmt.Sprint(m["a"].N, m["b"].N, ok, len(m))
}
func F_slices_of_slices() string {
	g := [][]int{{1}, {2, 3}}
	g[0] = append(g[0], 9)
	for _, r := range g {
		r[0] *= 10
	}
	return fmt.Sprint(g, len(g[1:]), cap(g[:1]) >= 1)
}
func F_struct_compare() string {
	type K struct {
		a int
		b string
	}
	return fmt.Sprint(K{1, "x"} == K{1, "x"}, K{1, "x"} != K{2, "x"}, map[K]int{{1, "x"}: 4}[K{1, "x"}])
}
func F_anon_struct_slice() string {
	s := ""
	for _, t := range []struct {
		in   string
		want int
	}{{"a", 1}, {"bb", 2}} {
		s += fmt.Sprint(len(t.in) == t.want, t)
	}
	return s
}
func F_any_containers() string {
	s := []any{1}
	s = append(s, P{1, 2}, Mon)
	s[0] = Item{"z", 1}
	m := map[string]any{}
	m["p"] = P{3, 4}
	m["d"] = Tue
	var c = make(chan any, 1)
	c <- P{5, 6}
	v := <-c
	p, ok := v.(P)
	q, ok2 := m["p"].(P)
	d, ok3 := s[2].(Day)
	f := func(x any) any { return x }
	_, ok4 := f(P{1, 1}).(P)
	var st struct{ V any }
	st.V = P{9, 9}
	return fmt.Sprint(s, m, p, ok, q.X, ok2, d, ok3, ok4, st)
}
func F_iface_containers() string {
	as := []Animal{Dog{"a"}, &Cat{1}}
	as = append(as, &Dog{"b"})
	m := map[string]Animal{"c": &Cat{2}}
	m["d"] = Dog{"e"}
	d, ok := as[0].(Dog)
	_, ok2 := m["c"].(*Cat)
	return fmt.Sprint(len(as), d.name, ok, ok2, as[2].Sound(), m["d"] == Animal(Dog{"e"}), as[0] == m["d"])
}

type codeErr struct {
	code int
	msg  string
}

func (e codeErr) Error() string { return fmt.Sprint(e.code, ":", e.msg) }
func codeError(n int) error {
	if n == 0 {
		return nil
	}
	return codeErr{n, "bad"}
}
func F_value_error() string {
	e := codeError(3)
	var x error = codeErr{4, "z"}
	var c codeErr
	ok := errors.As(fmt.Errorf("w: %w", e), &c)
	y, ok2 := x.(codeErr)
	s := ""
	switch v := e.(type) {
	case codeErr:
		s = fmt.Sprint("code ", v.code)
	default:
		s = "other"
	}
	return fmt.Sprint(e, x, ok, c.code, y.msg, ok2, s, x == codeErr{4, "z"}, codeError(0) == nil, errors.Is(e, codeErr{3, "bad"}))
}
func F_stringer_iface() string {
	var s fmt.Stringer = P{1, 2}
	return fmt.Sprint(s, s.String(), []fmt.Stringer{P{3, 4}, Mon})
}
func F_complex_num() string {
	c := complex(3, 4)
	return fmt.Sprint(real(c), imag(c), c*c, c == complex(3, 4))
}
func F_runes() string {
	s := ""
	for i, r := range "aé日" {
		s += fmt.Sprintf("%d:%c:%d ", i, r, r)
	}
	return s + string([]rune("日本")[1:]) + fmt.Sprint([]byte("é"))
}
func vari(pre string, xs ...any) string { return fmt.Sprint(pre, len(xs), xs) }
func F_variadic_any() string            { return vari("a") + vari("b", 1, "x", nil) + vari("c", []any{1, 2}...) }
func F_multi_assign() string {
	a, b := 1, 2
	a, b = b, a
	xs := []int{1, 2, 3}
	i := 0
	i, xs[i] = 2, 50
	xs[0], xs[2] = xs[2], xs[0]
	return fmt.Sprint(a, b, i, xs)
}
func F_printf_verbs() string {
	return fmt.Sprintf("%v|%+v|%#v|%T|%d|%5.2f|%-5s|%05d|%x|%q|%t|%c|%U|%e|%8.3f", Item{"a", 1}, Item{"a", 1}, Item{"a", 1}, Item{}, 42, 3.14159, "ab", 42, "hi", "q", true, 'x', 'x', 1500.0, 2.5)
}
func F_printf_cells() string {
	return fmt.Sprintf("%v %v %s %d %T %T %T %v %+v", P{1, 2}, &P{3, 4}, Mon, Tue, []P{}, map[string]*Item{}, Mon, []any{P{5, 6}, Wed, nil, 3}, struct {
		A P
		b Day
	}{P{7, 8}, Mon})
}
func F_printf_sharp() string {
	return fmt.Sprintf("%#v %#v %#v %#v", []Item{{"a", 1}}, map[string]Item{"k": {"b", 2}}, &Item{"c", 3}, []string{"x"})
}
func F_print_nil() string {
	var p *Item
	var e error
	var m map[string]int
	var f func()
	return fmt.Sprint(p, e, m, f == nil, []int(nil), any(nil))
}
func F_recursion_closure() string {
	var fib func(int) int
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	return fmt.Sprint(fib(12))
}
func evens(n int) bool {
	if n == 0 {
		return true
	}
	return odds(n - 1)
}
func odds(n int) bool {
	if n == 0 {
		return false
	}
	return evens(n - 1)
}
func F_mutual() string { return fmt.Sprint(evens(10), odds(7)) }
func F_panic_custom() (s string) {
	defer func() {
		if e, ok := recover().(*MyErr); ok {
			s = fmt.Sprint("my ", e.code)
		}
	}()
	panic(&MyErr{7})
}
func F_panic_error_value() (s string) {
	defer func() {
		e, ok := recover().(error)
		s = fmt.Sprint(ok, e)
	}()
	panic(fmt.Errorf("e%d", 1))
}
func F_slice_bounds_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	xs := []int{1, 2, 3}
	n := 5
	return fmt.Sprint(xs[1:n])
}
func F_slice_order_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	xs := []int{1, 2, 3}
	a, b := 2, 1
	return fmt.Sprint(xs[a:b])
}
func F_string_index_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	t, i := "abc", 10
	return fmt.Sprint(t[i])
}
func F_array_index_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	var a [4]int
	i := 4
	a[i] = 1
	return ""
}
func F_assert_cell_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	var x any = Item{"a", 1}
	return fmt.Sprint(x.(P))
}
func F_assert_nil_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	var x any
	return x.(string)
}
func F_assert_iface_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	var x any = 3
	return x.(Animal).Sound()
}
func F_closed_chan_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	c := make(chan int)
	close(c)
	close(c)
	return ""
}
func F_send_closed_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	c := make(chan int, 1)
	close(c)
	c <- 1
	return ""
}
func F_make_negative_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	n := -1
	return fmt.Sprint(make([]int, n))
}
func F_nil_func_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	var f func() int
	return fmt.Sprint(f())
}
func F_nil_method_text() (s string) {
	defer func() { s = fmt.Sprint(recover()) }()
	var a Animal
	return a.Sound()
}
func F_select_default() string {
	c := make(chan int, 1)
	s := ""
	for range 2 {
		select {
		case c <- 1:
			s += "sent "
		default:
			s += "full "
		}
	}
	select {
	case v, ok := <-c:
		s += fmt.Sprint(v, ok)
	}
	return s
}
func F_chan_dirs() string {
	gen := func(n int) <-chan int {
		c := make(chan int)
		go func() {
			defer close(c)
			for i := range n {
				c <- i
			}
		}()
		return c
	}
	sum := func(in <-chan int, out chan<- int) {
		t := 0
		for v := range in {
			t += v
		}
		out <- t
	}
	out := make(chan int)
	go sum(gen(5), out)
	return fmt.Sprint(<-out)
}
func F_method_on_slice_elem() string {
	xs := []P{{1, 2}}
	xs[0].Inc()
	p := &xs[0]
	p.Inc()
	return fmt.Sprint(xs[0].X, xs)
}
func F_bit_ops() string {
	var x uint8 = 0b1010
	x |= 1
	x &^= 8
	x <<= 1
	y := ^x
	return fmt.Sprint(x, y, x&0xf, -7/2, -7%3, 7>>1)
}
func F_const_overflow() string {
	var i8 int8 = 127
	i8++
	var u16 uint16
	u16--
	return fmt.Sprint(i8, u16, u16+1)
}
func F_float_fmt() string { return fmt.Sprint(1e21, 1e20, 0.1+0.2, float32(0.1), 100000.0, 1e-7) }
func F_string_builder() string {
	var sb strings.Builder
	for i := range 3 {
		fmt.Fprintf(&sb, "%d,", i)
	}
	sb.WriteByte('!')
	return sb.String()
}
func F_copy_append() string {
	a := []int{1, 2, 3, 4}
	n := copy(a[1:], a)
	b := append(a[:1:1], 9)
	return fmt.Sprint(n, a, b)
}
func F_min_max_builtin() string {
	x := 3
	return fmt.Sprint(min(x, 1), max(x, 2, 9), min(2.5, float64(x)), max("a", "b"))
}
func F_clear_builtin() string {
	m := map[string]int{"a": 1}
	s := []int{1, 2}
	clear(m)
	clear(s)
	return fmt.Sprint(m, s)
}
func F_init_order() string { x := func() int { return 1 }(); return fmt.Sprint(x, len(os.Args) >= 0) }
func F_if_chain() string {
	f := func(n int) string {
		if n < 0 {
			return "a"
		} else if m := n * 2; m > 10 {
			return fmt.Sprint("b", m)
		} else if m == 4 {
			return "c"
		} else {
			return fmt.Sprint("d", m)
		}
	}
	return f(-1) + f(6) + f(2) + f(1)
}
func F_for_forms() string {
	s := 0
	for i, j := 0, 10; i < j; i, j = i+1, j-1 {
		s += j - i
	}
	for s > 10 {
		s /= 2
	}
	for {
		s++
		if s > 12 {
			break
		}
	}
	return fmt.Sprint(s)
}
func F_pointer_struct() string {
	type N struct {
		v    int
		next *N
	}
	var head *N
	for i := range 3 {
		head = &N{i, head}
	}
	s := ""
	for n := head; n != nil; n = n.next {
		s += fmt.Sprint(n.v)
	}
	return s
}
func F_func_map2() string {
	ops := map[string]func(a, b int) int{"+": func(a, b int) int { return a + b }, "-": func(a, b int) int { return a - b }}
	return fmt.Sprint(ops["+"](3, 4), ops["-"](3, 4), ops["?"] == nil)
}
func F_struct_func_field() string {
	type H struct {
		Name string
		F    func(int) int
	}
	hs := []H{{"dbl", func(i int) int { return 2 * i }}}
	return fmt.Sprint(hs[0].Name, hs[0].F(4))
}
func F_defer_closure_value() (s string) {
	x := 1
	defer func() { s += fmt.Sprint(x) }()
	defer fmt.Sprint(x)
	x = 2
	return "v"
}
func F_defer_method_value() string {
	p := P{1, 1}
	func() {
		defer p.Inc()
		p.X = 10
	}()
	return fmt.Sprint(p.X)
}
func F_return_func_multi() string {
	f := func() (int, error) { return strings.NewReader("abc").Read(make([]byte, 2)) }
	n, err := f()
	return fmt.Sprint(n, err)
}

// Names of Go that a statement gives a new meaning, with their own old one.
func F_shadow_builtins() string {
	a, b := 3, 4
	max := max(a, b)
	len := len("abc")
	new := new(int)
	*new = max + len
	min, cap := min(a, b), cap(make([]int, 5))
	true := !true
	var append = append([]int{1}, max)
	return fmt.Sprint(max, len, *new, min, cap, true, append)
}

type level uint8

func (l level) String() string { return "L" }

type levels []level

type levelled struct {
	B []byte
	W []level
	A [2]level
	N levels
}

type wrongVerb string

func (wrongVerb) Error() string { return "wrong" }

// Bytes of a type with methods are bytes to the verbs of texts.
func F_printed_bytes() string {
	x := levelled{B: []byte("q"), W: []level{65}}
	wrong := strings.Repeat("%d ", 1) + "%q %t %t %s" // computed: checkers read constant ones
	return fmt.Sprintf("%s|%x|%X|%q|%v|%d\n", []level{65, 66}, []level{65, 66}, levels{65}, []level{67}, []level{68}, levels{69}) +
		fmt.Sprintf("%v|%s|%+v|%x|%q|%#v|%#v\n", x, x, x, x, x, x, levelled{}) +
		fmt.Sprintf(wrong, wrongVerb("q"), wrongVerb("q"), wrongVerb("z"), Kilo(3), Kilo(4))
}

type Kilo int
