//lint:file-ignore SA1019,SA4000,SA4004,SA4006,SA4011,SA4023,SA5000,S1000,S1021,S1034,ST1017,ST1023,U1000 these programs exercise odd corners on purpose

package programs

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
)

var _ = errors.New
var _ = sort.Ints
var _ = strings.Join
var _ sync.Mutex
var _ = time.Second

type P struct{ X, Y int }

func (p P) Sum() int       { return p.X + p.Y }
func (p *P) Inc()          { p.X++ }
func (p P) String() string { return fmt.Sprintf("P<%d,%d>", p.X, p.Y) }

type Shape interface{ Area() float64 }
type Sq struct{ s float64 }

func (q Sq) Area() float64 { return q.s * q.s }

type Rect struct {
	Sq
	h float64
}

func (r *Rect) Area() float64 { return r.Sq.s * r.h }

type MyErr struct{ code int }

func (e *MyErr) Error() string { return fmt.Sprint("myerr ", e.code) }

type Celsius float64
type Day int

const (
	Mon Day = iota + 1
	Tue
	Wed
)

func (d Day) String() string { return [...]string{"?", "Mon", "Tue", "Wed"}[d] }

type Node struct {
	v    int
	l, r *Node
}

func (n *Node) Insert(v int) *Node {
	if n == nil {
		return &Node{v: v}
	}
	if v < n.v {
		n.l = n.l.Insert(v)
	} else {
		n.r = n.r.Insert(v)
	}
	return n
}
func (n *Node) Walk(f func(int)) {
	if n != nil {
		n.l.Walk(f)
		f(n.v)
		n.r.Walk(f)
	}
}

func multi(i int) (int, string, error) {
	if i < 0 {
		return 0, "", &MyErr{i}
	}
	return i, fmt.Sprint(i), nil
}
func named(i int) (r int, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("rec: %v", e)
			r = -1
		}
	}()
	if i > 1 {
		panic("big")
	}
	r = 10 / i
	return
}
func variadic(pre string, xs ...int) string { return pre + fmt.Sprint(len(xs), xs) }

func F_commaok_map() string {
	m := map[string]int{"a": 1}
	v, ok := m["a"]
	w, ok2 := m["z"]
	return fmt.Sprint(v, ok, w, ok2)
}
func F_commaok_if() string {
	m := map[string]int{"a": 1}
	if v, ok := m["a"]; ok {
		return fmt.Sprint(v)
	}
	return "no"
}
func F_commaok_type() string {
	var a interface{} = 3
	i, ok := a.(int)
	s, ok2 := a.(string)
	return fmt.Sprint(i, ok, s == "", ok2)
}
func F_commaok_iface() string {
	var a interface{} = Sq{2}
	s, ok := a.(Shape)
	if !ok {
		return "no"
	}
	return fmt.Sprint(s.Area())
}
func F_commaok_chan() string {
	c := make(chan int, 1)
	c <- 3
	close(c)
	v, ok := <-c
	w, ok2 := <-c
	return fmt.Sprint(v, ok, w, ok2)
}
func F_range_int() string {
	s := 0
	for i := range 5 {
		s += i
	}
	for range 3 {
		s += 100
	}
	return fmt.Sprint(s)
}
func F_range_int_var() string {
	n := 4
	s := 0
	for i := range n {
		s += i
	}
	return fmt.Sprint(s)
}
func F_range_func() string {
	seq := func(yield func(int) bool) {
		for i := 0; i < 5; i++ {
			if !yield(i) {
				return
			}
		}
	}
	s := 0
	for v := range seq {
		if v == 3 {
			break
		}
		s += v
	}
	return fmt.Sprint(s)
}
func F_range_string() string {
	s := ""
	for i, r := range "héy" {
		s += fmt.Sprint(i, string(r))
	}
	return s
}
func F_range_array_ptr() string {
	a := [3]int{1, 2, 3}
	s := 0
	for i, v := range &a {
		s += i * v
	}
	return fmt.Sprint(s)
}
func F_range_map() string {
	m := map[string]int{"a": 1, "b": 2}
	s := 0
	for k, v := range m {
		s += len(k) * v
	}
	for k := range m {
		delete(m, k)
	}
	return fmt.Sprint(s, len(m))
}
func F_range_chan() string {
	c := make(chan int)
	go func() {
		for i := 0; i < 3; i++ {
			c <- i
		}
		close(c)
	}()
	s := 0
	for v := range c {
		s += v
	}
	return fmt.Sprint(s)
}
func F_range_copy() string {
	a := [3]int{1, 2, 3}
	s := 0
	for _, v := range a {
		a[2] = 10
		s += v
	}
	return fmt.Sprint(s)
}
func F_loopvar() string {
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { return i })
	}
	return fmt.Sprint(fs[0](), fs[1](), fs[2]())
}
func F_loopvar_range() string {
	var fs []func() int
	for i, v := range []int{5, 6, 7} {
		fs = append(fs, func() int { return i*10 + v })
	}
	return fmt.Sprint(fs[0](), fs[1](), fs[2]())
}
func F_loopvar_copy() string {
	var fs []func() int
	for i := 0; i < 3; i++ {
		i := i
		fs = append(fs, func() int { return i })
	}
	return fmt.Sprint(fs[0](), fs[1](), fs[2]())
}
func F_loopvar_addr() string {
	var ps []*int
	for i := 0; i < 3; i++ {
		j := i
		ps = append(ps, &j)
	}
	return fmt.Sprint(*ps[0], *ps[1], *ps[2])
}
func F_loopvar_go() string {
	var wg sync.WaitGroup
	var mu sync.Mutex
	s := 0
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() { defer wg.Done(); mu.Lock(); s += i; mu.Unlock() }()
	}
	wg.Wait()
	return fmt.Sprint(s)
}
func F_loopvar_goarg() string {
	var wg sync.WaitGroup
	var mu sync.Mutex
	s := 0
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func(k int) { defer wg.Done(); mu.Lock(); s += k; mu.Unlock() }(i)
	}
	wg.Wait()
	return fmt.Sprint(s)
}
func F_decl_in_loop_closure() string {
	var fs []func() int
	for i := 0; i < 3; i++ {
		x := i * 2
		fs = append(fs, func() int { x++; return x })
	}
	return fmt.Sprint(fs[0](), fs[1](), fs[2](), fs[0]())
}
func F_defer_arg() string {
	var s []int
	func() {
		for i := 0; i < 3; i++ {
			defer func(k int) { s = append(s, k) }(i)
		}
	}()
	return fmt.Sprint(s)
}
func F_defer_order() string {
	var s []string
	func() { defer func() { s = append(s, "a") }(); defer func() { s = append(s, "b") }() }()
	return fmt.Sprint(s)
}
func F_defer_method() string { p := &P{1, 2}; func() { defer p.Inc() }(); return fmt.Sprint(p.X) }
func F_defer_native() string {
	var sb strings.Builder
	func() { defer sb.WriteString("x"); sb.WriteString("y") }()
	return sb.String()
}
func F_named_result() string {
	a, e1 := named(1)
	b, e2 := named(5)
	c, e3 := named(0)
	return fmt.Sprint(a, e1, b, e2, c, e3)
}
func F_recover_repanic() (r string) {
	defer func() { r = fmt.Sprint("outer ", recover()) }()
	func() { defer func() { e := recover(); panic(fmt.Sprint("re-", e)) }(); panic("x") }()
	return "no"
}
func F_recover_runtime_err() (r string) {
	defer func() { e := recover(); _, isErr := e.(error); r = fmt.Sprint(isErr) }()
	var s []int
	i := 3
	return fmt.Sprint(s[i])
}
func F_runtime_err_text() (r string) {
	defer func() { r = fmt.Sprint(recover()) }()
	s := []int{1}
	i := 3
	return fmt.Sprint(s[i])
}
func F_nilmap_text() (r string) {
	defer func() { r = fmt.Sprint(recover()) }()
	var m map[string]int
	m["a"] = 1
	return ""
}
func F_nilptr_text() (r string) {
	defer func() { r = fmt.Sprint(recover()) }()
	var p *P
	return fmt.Sprint(p.X)
}
func F_div_text() (r string) {
	defer func() { r = fmt.Sprint(recover()) }()
	z := 0
	return fmt.Sprint(1 / z)
}
func F_assert_text() (r string) {
	defer func() { r = fmt.Sprint(recover()) }()
	var a interface{} = 1
	return a.(string)
}
func F_goexit_panic_err() string {
	_, _, err := multi(-3)
	var me *MyErr
	ok := errors.As(err, &me)
	return fmt.Sprint(err, ok)
}
func F_errors_is() string {
	e := errors.New("x")
	w := fmt.Errorf("w: %w", e)
	return fmt.Sprint(errors.Is(w, e), w)
}
func F_err_compare() string {
	var err error
	ok := err == nil
	err = &MyErr{1}
	return fmt.Sprint(ok, err != nil, err.Error())
}
func F_multi() string      { a, b, err := multi(4); return fmt.Sprint(a, b, err) }
func F_multi_pass() string { return fmt.Sprint(multi(4)) }
func F_variadic() string   { return variadic("a") + variadic("b", 1, 2) + variadic("c", []int{4}...) }
func F_method_ptr_value() string {
	p := P{1, 2}
	p.Inc()
	q := &p
	q.Inc()
	return fmt.Sprint(p.Sum(), q.Sum(), p)
}
func F_method_value() string {
	p := P{1, 2}
	f := p.Sum
	p.X = 100
	g := (*P).Inc
	g(&p)
	return fmt.Sprint(f(), p.X)
}
func F_stringer_print() string {
	return fmt.Sprintf("%v %s %v %+v", P{1, 2}, P{3, 4}, []P{{5, 6}}, &P{7, 8})
}
func F_stringer_nested() string { return fmt.Sprint(map[string]P{"k": {1, 2}}, struct{ Q P }{P{9, 9}}) }
func F_enum_print() string      { return fmt.Sprint(Mon, Tue, []Day{Wed}) + fmt.Sprintf("%d %v", Tue, Wed) }
func F_typename() string        { return fmt.Sprintf("%T %T %T", P{}, Celsius(1), &Sq{}) }
func F_plusv() string           { return fmt.Sprintf("%+v %v", Sq{2}, Node{v: 1}) }
func F_embed() string {
	r := &Rect{Sq{2}, 5}
	var s Shape = r
	return fmt.Sprint(s.Area(), r.Sq.Area(), r.s)
}
func F_embed_promote() string {
	type B struct {
		P
		n int
	}
	b := B{P{1, 2}, 3}
	b.Inc()
	return fmt.Sprint(b.Sum(), b.X)
}
func F_iface_slice() string {
	ss := []Shape{Sq{1}, &Rect{Sq{2}, 3}, Sq{4}}
	t := 0.0
	for _, s := range ss {
		t += s.Area()
	}
	return fmt.Sprint(t)
}
func F_iface_map() string {
	m := map[string]Shape{"a": Sq{2}}
	return fmt.Sprint(m["a"].Area(), m["b"] == nil)
}
func F_iface_eq() string {
	var a, b Shape = Sq{1}, Sq{1}
	var c interface{} = 1
	return fmt.Sprint(a == b, c == 1, c == "x")
}
func F_iface_struct_field() string {
	type H struct {
		s Shape
		f func(int) int
	}
	h := H{Sq{3}, func(i int) int { return i + 1 }}
	return fmt.Sprint(h.s.Area(), h.f(2))
}
func F_typeswitch() string {
	out := ""
	for _, x := range []interface{}{1, "s", 2.5, nil, P{1, 2}, &P{3, 4}, []int{1}, errors.New("e"), Sq{1}, Tue, func() {}} {
		switch v := x.(type) {
		case int, int64:
			out += fmt.Sprint("int", v)
		case string:
			out += "str" + v
		case nil:
			out += "nil"
		case P:
			out += fmt.Sprint("P", v.X)
		case *P:
			out += fmt.Sprint("*P", v.Y)
		case []int:
			out += fmt.Sprint("slice", len(v))
		case error:
			out += "err" + v.Error()
		case Shape:
			out += fmt.Sprint("shape", v.Area())
		case Day:
			out += "day"
		default:
			out += "?"
		}
		out += ";"
	}
	return out
}
func F_switch() string {
	out := ""
	for i := 0; i < 6; i++ {
		switch {
		case i == 0:
			out += "z"
			fallthrough
		case i == 1:
			out += "o"
		case i > 3:
			if i == 5 {
				break
			}
			out += "g"
		default:
			out += "d"
		}
	}
	switch x := 3; x {
	case 1, 2:
		out += "12"
	case 3, 4:
		out += "34"
	}
	return out
}
func F_labels() string {
	n := 0
outer:
	for i := 0; i < 4; i++ {
		for j := 0; j < 4; j++ {
			switch {
			case j == 2:
				continue outer
			case i == 3:
				break outer
			}
			n += i*10 + j
		}
	}
	return fmt.Sprint(n)
}
func F_goto() string {
	i := 0
loop:
	if i < 3 {
		i++
		goto loop
	}
	return fmt.Sprint(i)
}
func F_select() string {
	a, b := make(chan int, 1), make(chan string, 1)
	b <- "x"
	out := ""
	select {
	case v := <-a:
		out = fmt.Sprint(v)
	case s, ok := <-b:
		out = fmt.Sprint(s, ok)
	}
	select {
	case v := <-a:
		out += fmt.Sprint(v)
	default:
		out += "def"
	}
	select {
	case a <- 5:
		out += "sent"
	case <-time.After(time.Second):
		out += "to"
	}
	return out
}
func F_worker_pool() string {
	jobs, res := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < 3; w++ {
		wg.Add(1)
		go func(id int) {
			defer wg.Done()
			for j := range jobs {
				res <- j * j
			}
		}(w)
	}
	go func() {
		for i := 1; i <= 10; i++ {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		close(res)
	}()
	s := 0
	for r := range res {
		s += r
	}
	return fmt.Sprint(s)
}
func F_closure_counter() string {
	mk := func() func() int { n := 0; return func() int { n++; return n } }
	a, b := mk(), mk()
	a()
	a()
	return fmt.Sprint(a(), b())
}
func F_closure_modify() string { x := 1; f := func() { x += 5 }; f(); f(); return fmt.Sprint(x) }
func F_closure_recursive() string {
	var fib func(int) int
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	return fmt.Sprint(fib(12))
}
func F_func_map() string {
	ops := map[string]func(int, int) int{"+": func(a, b int) int { return a + b }, "*": func(a, b int) int { return a * b }}
	return fmt.Sprint(ops["+"](2, 3), ops["*"](2, 3))
}
func F_func_slice_arg() string {
	app := func(fs ...func(int) int) int {
		x := 1
		for _, f := range fs {
			x = f(x)
		}
		return x
	}
	return fmt.Sprint(app(func(i int) int { return i + 1 }, func(i int) int { return i * 10 }))
}
func F_iife() string { return fmt.Sprint(func(a int) int { return a * 2 }(4)) }
func F_return_func() string {
	add := func(a int) func(int) int { return func(b int) int { return a + b } }
	return fmt.Sprint(add(3)(4))
}
func F_struct_copy() string {
	a := P{1, 2}
	b := a
	b.X = 9
	arr := [2]P{a, b}
	c := arr
	c[0].X = 7
	return fmt.Sprint(a.X, arr[0].X, c[0].X)
}
func F_struct_map_key() string {
	m := map[P]string{{1, 2}: "x"}
	return m[P{1, 2}] + fmt.Sprint(P{1, 2} == P{1, 2})
}
func F_anon_struct() string {
	a := []struct {
		n string
		v int
	}{{"a", 1}, {"b", 2}}
	s := ""
	for _, t := range a {
		s += fmt.Sprint(t.n, t.v)
	}
	return s
}
func F_nested_map() string {
	m := map[string]map[string]int{}
	if m["a"] == nil {
		m["a"] = map[string]int{}
	}
	m["a"]["b"]++
	m["a"]["b"] += 4
	return fmt.Sprint(m)
}
func F_map_of_slice() string {
	m := map[int][]string{}
	m[1] = append(m[1], "x", "y")
	return fmt.Sprint(m, len(m[2]))
}
func F_slice_3idx() string {
	a := []int{1, 2, 3, 4}
	b := a[1:2:3]
	b = append(b, 9)
	return fmt.Sprint(a, b, cap(a[1:2:3]))
}
func F_slice_alias() string {
	a := make([]int, 2, 4)
	b := append(a, 1)
	c := append(a, 2)
	return fmt.Sprint(b, c)
}
func F_2d() string {
	g := make([][]float64, 3)
	for i := range g {
		g[i] = make([]float64, 2)
	}
	g[1][1] = 2.5
	g[2][0] += 3
	return fmt.Sprint(g)
}
func F_array2d() string {
	var a [2][3]int
	a[1][2] = 5
	b := a
	b[0][0] = 1
	return fmt.Sprint(a, b, len(a[0]))
}
func F_const_arith() string {
	const k = 1 << 10
	var f float32 = k / 3
	d := 2 * time.Second
	n := 3
	return fmt.Sprint(f, d, time.Duration(n)*time.Millisecond, 7/2, 7/2.0, -7%3, 1<<n)
}
func F_conv() string {
	f := 3.9
	i := int(f)
	b := []byte("hé")
	r := []rune("hé")
	return fmt.Sprint(i, b, r, string(b), string(r), uint8(300&0xff), float64(i)/2, int8(-128))
}
func F_bits() string {
	a := 0b1011
	a &^= 2
	a |= 1 << 6
	a ^= 3
	x := uint8(200)
	x += 100
	return fmt.Sprint(a, x, ^0, 5&3, 5|8, a>>2)
}
func F_overflow() string {
	var i int32 = 1<<31 - 1
	i++
	var u uint = 0
	u--
	return fmt.Sprint(i, u == ^uint(0))
}
func F_string_ops() string {
	s := "hello"
	return s[1:3] + string(s[0]) + fmt.Sprint(len(s), s > "abc", strings.ToUpper(s), s[4])
}
func F_shadow() string {
	x := 1
	if x := 2; x > 1 {
		x++
		_ = x
	}
	{
		x := "s"
		_ = x
	}
	for x := 0; x < 2; x++ {
		_ = x
	}
	return fmt.Sprint(x)
}
func F_shadow_err() string {
	a, err := multi2(1)
	if a > 0 {
		b, err := multi2(-1)
		_, _ = b, err
	}
	return fmt.Sprint(a, err)
}
func multi2(i int) (int, error) {
	if i < 0 {
		return 0, errors.New("neg")
	}
	return i, nil
}
func F_redecl_err() string { a, err := multi2(1); b, err := multi2(-1); return fmt.Sprint(a, b, err) }
func F_assign_swap() string {
	a, b, c := 1, 2, 3
	a, b, c = c, a, b
	s := []int{1, 2, 3}
	i := 0
	i, s[i] = 2, 9
	return fmt.Sprint(a, b, c, i, s)
}
func F_assign_index_swap() string {
	s := []int{1, 2, 3}
	s[0], s[2] = s[2], s[0]
	m := map[string]int{"a": 1, "b": 2}
	m["a"], m["b"] = m["b"], m["a"]
	return fmt.Sprint(s, m)
}
func F_ptr_ptr() string {
	x := 1
	p := &x
	q := &p
	**q = 5
	y := *p
	y++
	return fmt.Sprint(x, y)
}
func F_ptr_struct_field() string { p := &P{1, 2}; x := &p.X; *x = 50; return fmt.Sprint(p.X, p.Sum()) }
func F_ptr_slice_elem() string   { s := []int{1, 2}; p := &s[1]; *p = 9; return fmt.Sprint(s) }
func F_slice_struct_mod() string {
	s := []P{{1, 2}, {3, 4}}
	s[0].X = 10
	for i := range s {
		s[i].Inc()
	}
	return fmt.Sprint(s[0].X, s[1].X)
}
func F_map_ptr_struct() string {
	m := map[string]*P{"a": {1, 2}}
	m["a"].X++
	m["a"].Inc()
	return fmt.Sprint(m["a"].X)
}
func F_tree() string {
	var n *Node
	for _, v := range []int{5, 2, 8, 1} {
		n = n.Insert(v)
	}
	s := ""
	n.Walk(func(v int) { s += fmt.Sprint(v, " ") })
	return s
}
func F_sort() string {
	s := []P{{3, 1}, {1, 2}, {2, 3}}
	sort.Slice(s, func(i, j int) bool { return s[i].X < s[j].X })
	return fmt.Sprint(s[0].X, s[1].X, s[2].X)
}
func F_local_type() string {
	type T struct{ a int }
	type L []T
	l := L{{1}, {2}}
	s := 0
	for _, t := range l {
		s += t.a
	}
	return fmt.Sprint(s)
}
func F_const_typed() string {
	const x Celsius = 36.6
	var y Celsius = x + 1
	return fmt.Sprintf("%.1f", float64(y))
}
func F_complex() string { c := complex(1, 2); c *= 2i; return fmt.Sprint(c, real(c), imag(c)) }
func F_minmax() string  { return fmt.Sprint(min(3, 1, 2), max(2.5, 1), min("b", "a")) }
func F_clear() string {
	m := map[int]int{1: 1}
	clear(m)
	s := []int{1, 2}
	clear(s)
	return fmt.Sprint(len(m), s)
}
func F_print_ptr_struct() string { return fmt.Sprint(&struct{ A int }{3}) }
func F_json_tag() string {
	type T struct {
		A int `json:"a"`
	}
	return fmt.Sprintf("%+v", T{1})
}
func F_waitgroup_go() string {
	var wg sync.WaitGroup
	x := 0
	wg.Go(func() { x = 3 })
	wg.Wait()
	return fmt.Sprint(x)
}
func F_once() string {
	var o sync.Once
	n := 0
	for i := 0; i < 3; i++ {
		o.Do(func() { n++ })
	}
	return fmt.Sprint(n)
}
func F_new_struct_chain() string { return fmt.Sprint((&P{1, 2}).Sum(), P{3, 4}.Sum(), new(P).Sum()) }
func F_cond_expr() string        { a, b := true, false; return fmt.Sprint(a && !b || b, a != b, (1 < 2) == a) }
func F_short_circuit() string {
	n := 0
	f := func() bool { n++; return true }
	_ = false && f()
	_ = true || f()
	if f() && f() {
		n += 10
	}
	return fmt.Sprint(n)
}
func F_bool_func_ret() string {
	f := func(a int) bool { return a > 1 && a < 5 }
	return fmt.Sprint(f(1), f(3), f(9))
}
func F_array_literal_idx() string { a := [...]string{2: "z", 0: "a"}; return fmt.Sprint(len(a), a) }
func F_inc_deref() string         { x := 3; p := &x; *p++; (*p) += 2; return fmt.Sprint(x) }
func F_chan_of_func() string {
	c := make(chan func() int, 1)
	c <- func() int { return 7 }
	return fmt.Sprint((<-c)())
}
func F_chan_struct() string { c := make(chan P, 1); c <- P{1, 2}; p := <-c; return fmt.Sprint(p.Sum()) }
func F_func_returning_iface() string {
	f := func(b bool) Shape {
		if b {
			return Sq{2}
		}
		return nil
	}
	return fmt.Sprint(f(true).Area(), f(false) == nil)
}
func F_iface_nil_ptr() string { var r *Rect; var s Shape = r; return fmt.Sprint(s == nil, r == nil) }
func F_struct_eq_iface() string {
	var x interface{} = P{1, 2}
	return fmt.Sprint(x == P{1, 2}, x != P{2, 1})
}
func F_const_iota_skip() string {
	const (
		A = iota * 10
		_
		C
		D = "s"
		E
		F = iota
	)
	return fmt.Sprint(A, C, D, E, F)
}
func F_many_returns_closure() string {
	f := func() (a, b int) { a, b = 1, 2; return b, a }
	x, y := f()
	return fmt.Sprint(x, y)
}
func F_defer_loop_modify() string {
	x := 1
	func() { defer func() { x *= 2 }(); x += 4 }()
	return fmt.Sprint(x)
}
func F_string_iter_bytes() string {
	s := "abc"
	t := 0
	for i := 0; i < len(s); i++ {
		t += int(s[i] - 'a')
	}
	return fmt.Sprint(t)
}
func F_copy_string() string {
	b := make([]byte, 3)
	n := copy(b, "hello")
	return fmt.Sprint(n, string(b))
}
func F_append_self() string {
	s := []int{1, 2}
	s = append(s, s...)
	s = append(s[:1], s[2:]...)
	return fmt.Sprint(s)
}
func F_append_bytes_str() string { b := append([]byte("a"), "bc"...); return string(b) }
func F_untyped_float_int() string {
	var x float64 = 3
	y := x / 2
	var z float32 = 1
	z += 0.5
	i := 2
	return fmt.Sprint(y, z, float64(i)*1.5)
}
