//lint:file-ignore SA1019,SA4000,SA4004,SA4006,SA4011,SA4023,SA5000,S1000,S1021,S1034,ST1017,ST1023,U1000 these programs exercise odd corners on purpose

package programs

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"container/list"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
	"time"
	"unicode/utf8"
)

type Item struct {
	Name string
	N    int
}

type byName []Item

func (b byName) Len() int           { return len(b) }
func (b byName) Less(i, j int) bool { return b[i].Name < b[j].Name }
func (b byName) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	n := len(old)
	x := old[n-1]
	*h = old[:n-1]
	return x
}

func F_slices_sort() string {
	xs := []int{3, 1, 2}
	slices.Sort(xs)
	return fmt.Sprint(xs, slices.IsSorted(xs))
}
func F_slices_sortfunc() string {
	xs := []Item{{"b", 1}, {"a", 2}, {"c", 0}}
	slices.SortFunc(xs, func(a, b Item) int { return cmp.Compare(a.N, b.N) })
	return fmt.Sprint(xs)
}
func F_slices_minmax() string {
	return fmt.Sprint(slices.Max([]int{1, 5, 2}), slices.Min([]float64{2.5, 1}))
}
func F_slices_index() string {
	xs := []string{"a", "b"}
	return fmt.Sprint(slices.Index(xs, "b"), slices.Contains(xs, "z"), slices.IndexFunc(xs, func(s string) bool { return s > "a" }))
}
func F_slices_insert() string {
	xs := []int{1, 2, 3}
	xs = slices.Insert(xs, 1, 9, 8)
	xs = slices.Delete(xs, 0, 1)
	return fmt.Sprint(xs)
}
func F_slices_reverse() string {
	xs := []int{1, 2, 3}
	slices.Reverse(xs)
	return fmt.Sprint(xs, slices.Equal(xs, []int{3, 2, 1}))
}
func F_slices_binary() string {
	i, ok := slices.BinarySearch([]int{1, 3, 5}, 3)
	j, ok2 := slices.BinarySearch([]int{1, 3, 5}, 4)
	return fmt.Sprint(i, ok, j, ok2)
}
func F_slices_compact() string {
	return fmt.Sprint(slices.Compact([]int{1, 1, 2, 2, 1}), slices.Clone([]int{1}), slices.Concat([]int{1}, []int{2, 3}))
}
func F_slices_collect() string {
	return fmt.Sprint(slices.Sorted(maps.Keys(map[string]int{"b": 1, "a": 2})), slices.Collect(slices.Values([]int{4, 5})))
}
func F_slices_all() string {
	s := ""
	for i, v := range slices.All([]string{"x", "y"}) {
		s += fmt.Sprint(i, v)
	}
	for i, v := range slices.Backward([]string{"x", "y"}) {
		s += fmt.Sprint(i, v)
	}
	return s
}
func F_slices_chunk() string {
	s := ""
	for c := range slices.Chunk([]int{1, 2, 3, 4, 5}, 2) {
		s += fmt.Sprint(c)
	}
	return s
}
func F_slices_deletefunc() string {
	return fmt.Sprint(slices.DeleteFunc([]int{1, 2, 3, 4}, func(n int) bool { return n%2 == 0 }))
}
func F_maps_clone() string {
	m := map[string]int{"a": 1}
	c := maps.Clone(m)
	c["b"] = 2
	maps.DeleteFunc(c, func(k string, v int) bool { return v == 1 })
	return fmt.Sprint(len(m), c, maps.Equal(m, c))
}
func F_maps_collect() string { return fmt.Sprint(maps.Collect(slices.All([]string{"a", "b"}))) }
func F_cmp() string {
	return fmt.Sprint(cmp.Compare(1, 2), cmp.Compare("b", "a"), cmp.Less(1.5, 1), cmp.Or("", "x"))
}
func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
func F_iter_seq() string {
	t := 0
	for v := range count(10) {
		if v == 5 {
			break
		}
		if v == 2 {
			continue
		}
		t += v
	}
	return fmt.Sprint(t)
}
func pairs(m map[string]int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
func F_iter_seq2() string {
	s := ""
	for k, v := range pairs(map[string]int{"b": 2, "a": 1}) {
		s += fmt.Sprint(k, v)
	}
	return s
}
func firstOver(n int) int {
	for v := range count(100) {
		if v > n {
			return v
		}
	}
	return -1
}
func F_iter_return() string { return fmt.Sprint(firstOver(7), firstOver(200)) }
func iterDefer() (s string) {
	for v := range count(3) {
		defer func() { s += fmt.Sprint(v) }()
	}
	return "x"
}
func F_iter_defer() string { return iterDefer() }
func F_iter_label() string {
	s := ""
outer:
	for v := range count(5) {
		for w := range count(5) {
			if w == 2 {
				continue outer
			}
			if v == 3 {
				break outer
			}
			s += fmt.Sprint(v, w, " ")
		}
	}
	return s
}
func F_iter_nested_loop() string {
	s := 0
	for v := range count(4) {
		for i := 0; i < 3; i++ {
			if i == 1 {
				continue
			}
			if v == 2 {
				break
			}
			s += v*10 + i
		}
		switch v {
		case 1:
			break
		default:
			s++
		}
	}
	return fmt.Sprint(s)
}
func F_iter_stop() string {
	s := 0
	next := slices.Values([]int{1, 2, 3})
	for v := range next {
		s += v
	}
	return fmt.Sprint(s)
}
func F_strings_seq() string {
	s := ""
	for p := range strings.SplitSeq("a,b,c", ",") {
		s += "<" + p + ">"
	}
	return s
}
func F_sort_interface() string {
	xs := byName{{"b", 1}, {"a", 2}}
	sort.Sort(xs)
	return fmt.Sprint(xs)
}
func F_heap() string {
	h := &intHeap{5, 2, 8}
	heap.Init(h)
	heap.Push(h, 1)
	s := ""
	for h.Len() > 0 {
		s += fmt.Sprint(heap.Pop(h), " ")
	}
	return s
}
func F_list() string {
	l := list.New()
	l.PushBack(1)
	l.PushFront("a")
	s := ""
	for e := l.Front(); e != nil; e = e.Next() {
		s += fmt.Sprint(e.Value)
	}
	return s
}
func F_context() string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	<-ctx.Done()
	return fmt.Sprint(ctx.Err(), errors.Is(ctx.Err(), context.Canceled))
}
func F_binary() string {
	b := make([]byte, 4)
	binary.BigEndian.PutUint32(b, 0xdeadbeef)
	return hex.EncodeToString(b)
}
func F_csv() string {
	r, err := csv.NewReader(strings.NewReader("a,b\n1,\"2,3\"\n")).ReadAll()
	return fmt.Sprint(r, err, len(r[1]))
}
func F_json_marshal() string {
	type T struct {
		A int    `json:"a"`
		B string `json:",omitempty"`
		c int
		D []Item
	}
	b, err := json.Marshal(T{A: 1, c: 2, D: []Item{{"x", 1}}})
	return fmt.Sprint(string(b), err)
}
func F_json_unmarshal() string {
	var it struct {
		Name string
		Tags []string
		M    map[string]float64
	}
	err := json.Unmarshal([]byte(`{"name":"z","tags":["a","b"],"m":{"k":1.5}}`), &it)
	return fmt.Sprint(it.Name, it.Tags, it.M, err)
}
func F_json_any() string {
	var v any
	json.Unmarshal([]byte(`{"a":[1,"x",null,true]}`), &v)
	m := v.(map[string]any)
	return fmt.Sprint(m["a"].([]any)[1], v)
}
func F_regexp() string {
	re := regexp.MustCompile(`(\w)(\d+)`)
	return fmt.Sprint(re.FindAllStringSubmatch("a1 b22", -1), re.ReplaceAllString("a1", "$2$1"))
}
func F_template() string {
	var b bytes.Buffer
	err := template.Must(template.New("t").Parse("{{range .}}<{{.}}>{{end}}")).Execute(&b, []int{1, 2})
	return fmt.Sprint(b.String(), err)
}
func F_bufio() string {
	sc := bufio.NewScanner(strings.NewReader("one two\nthree"))
	sc.Split(bufio.ScanWords)
	n := 0
	for sc.Scan() {
		n += len(sc.Text())
	}
	return fmt.Sprint(n)
}
func F_io_pipe() string {
	r, w := io.Pipe()
	go func() { fmt.Fprint(w, "hello"); w.Close() }()
	b, err := io.ReadAll(r)
	return fmt.Sprint(string(b), err)
}
func F_big() string {
	a := big.NewInt(1)
	for i := int64(1); i <= 25; i++ {
		a.Mul(a, big.NewInt(i))
	}
	return a.String()
}
func F_math_bits() string {
	return fmt.Sprint(bits.OnesCount(255), bits.Len(8), bits.TrailingZeros8(4))
}
func F_math() string {
	return fmt.Sprint(math.Sqrt(2), math.Inf(1), math.NaN(), math.MaxInt64, math.Pi, math.Floor(-1.5))
}
func F_strconv() string {
	n, err := strconv.Atoi("12x")
	f, _ := strconv.ParseFloat("1e3", 64)
	return fmt.Sprint(n, err, f, strconv.Quote("a\n"), strconv.FormatInt(255, 16))
}
func F_strings() string {
	return fmt.Sprint(strings.Fields(" a b "), strings.Title("ab"), strings.Map(func(r rune) rune { return r + 1 }, "abc"), strings.NewReplacer("a", "b").Replace("aXa"))
}
func F_filepath() string { return filepath.Join("a", "..", "b") + filepath.Ext("x.go") }
func F_time() string {
	d := 90 * time.Minute
	t := time.Date(2024, time.March, 1, 12, 0, 0, 0, time.UTC).Add(-d)
	return fmt.Sprint(d, t.Format(time.RFC3339), t.Weekday(), time.Second*3)
}
func F_utf8() string { return fmt.Sprint(utf8.RuneCountInString("héllo"), utf8.ValidString("a\xff")) }
func F_file() string {
	f := filepath.Join(os.TempDir(), "tpush-programs.txt")
	err := os.WriteFile(f, []byte("data"), 0o600)
	b, err2 := os.ReadFile(f)
	os.Remove(f)
	_, err3 := os.ReadFile(f)
	return fmt.Sprint(err, string(b), err2, errors.Is(err3, os.ErrNotExist))
}
func F_atomic() string {
	var n atomic.Int64
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { n.Add(int64(i)) })
	}
	wg.Wait()
	return fmt.Sprint(n.Load())
}
func F_mutex_map() string {
	var m sync.Map
	m.Store("a", 1)
	v, ok := m.Load("a")
	_, no := m.Load("b")
	return fmt.Sprint(v, ok, no)
}
func F_once_value() string {
	n := 0
	f := sync.OnceValue(func() int { n++; return n * 10 })
	return fmt.Sprint(f(), f(), n)
}
func F_workers() string {
	jobs, results := make(chan int), make(chan int, 20)
	var wg sync.WaitGroup
	for w := 0; w < 3; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				results <- j * j
			}
		}()
	}
	for i := 1; i <= 10; i++ {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	close(results)
	t := 0
	for r := range results {
		t += r
	}
	return fmt.Sprint(t)
}
func F_select_timeout() string {
	c := make(chan int)
	select {
	case v := <-c:
		return fmt.Sprint(v)
	case <-time.After(time.Millisecond):
		return "timeout"
	}
}
func F_errors_join() string {
	a, b := errors.New("a"), errors.New("b")
	j := errors.Join(a, b)
	return fmt.Sprint(j, errors.Is(j, b))
}

type jsonInner struct {
	A int
	B []bool
	C map[string]float32
}

type jsonOuter struct {
	jsonInner
	*JSONEmbedded
	Sub jsonInner `json:"sub"`
	L   []jsonInner
	P   *jsonInner
	M   map[string]jsonInner
	U8  uint8
}

type JSONEmbedded struct{ Deep jsonInner }

// Where a value of the wrong type stands, and that the rest is stored.
func F_json_mistyped() string {
	var b strings.Builder
	for _, s := range []string{`{"A":"x","U8":3}`, `{"sub":{"A":[1]},"U8":4}`, `{"L": [{"A":1}, {"B":[1]}]}`, `{"P":{"C":{"q":"z","r":2}}}`,
		`{"U8":300}`, `{"U8": 1.5}`, `[1]`, `{"M":{"k":{"A":true}},"A":7}`, `{"Deep":{"A":{}}}`, `{"L":{"A":1}}`, `"text"`} {
		var o jsonOuter
		err := json.Unmarshal([]byte(s), &o)
		var te *json.UnmarshalTypeError
		errors.As(err, &te)
		fmt.Fprintln(&b, err, te.Field, te.Offset, te.Value, te.Struct, te.Type, o.A, o.U8, o.P != nil && o.P.C["r"] == 2, len(o.L))
	}
	return b.String()
}
