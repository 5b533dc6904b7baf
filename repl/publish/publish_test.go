package publish

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl/store"
)

var sample = Document{
	Title: "a <b> & c",
	Cells: []Cell{
		{Title: "Load <script>", Source: "x := \"<&>\" // c\nfor i := range 3 { fmt.Println(i) }", Output: store.Output{Count: 1, Status: "ok", Stdout: "10%\r100%\n\x1b[31mred\x1b[0m\n", WallNS: 12345, DeviceNS: 500, Launches: 2}},
		{Source: "x @ y", Output: store.Output{Count: 2, Data: map[string]string{"text/plain": "f32[2] [1 2]", "application/x+json": `{"a":1}`}}},
		{Source: "bad(", Output: store.Output{Count: 3, Status: "error", Error: []string{"syntax: expected )", " --> In[3]:1:5"}}},
		{Source: ":hbm"},
	},
	Pictures: []Picture{{"hbm", "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>1</text></svg>\n"}},
}

func TestIPYNB(t *testing.T) {
	var b strings.Builder
	if err := WriteIPYNB(&b, sample); err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			CellType       string `json:"cell_type"`
			ID             string
			ExecutionCount *int `json:"execution_count"`
			Source         []string
			Outputs        []map[string]any
			Metadata       map[string]any
		}
		NBFormat, NBFormatMinor int
	}
	if err := json.Unmarshal([]byte(b.String()), &nb); err != nil {
		t.Fatal(err)
	}
	if len(nb.Cells) != 5 || nb.Cells[0].CellType != "markdown" || nb.Cells[1].Source[0] != "x := \"<&>\" // c\n" {
		t.Fatalf("%+v", nb.Cells)
	}
	if c := nb.Cells[1]; *c.ExecutionCount != 1 || c.Outputs[0]["output_type"] != "stream" {
		t.Errorf("%+v", c)
	}
	if c := nb.Cells[2]; c.Outputs[0]["output_type"] != "execute_result" {
		t.Errorf("%+v", c)
	}
	if c := nb.Cells[3]; c.Outputs[0]["ename"] != "syntax" || c.Outputs[0]["evalue"] != "expected )" {
		t.Errorf("%+v", c)
	}
	if c := nb.Cells[4]; c.ExecutionCount != nil || c.Outputs == nil || !strings.Contains(b.String(), `"execution_count": null`) {
		t.Errorf("a cell that did not run: %+v", c)
	}
	text, err := FromIPYNB([]byte(b.String()))
	want := "// %% Load <script>\nx := \"<&>\" // c\nfor i := range 3 { fmt.Println(i) }\n\n// %%\nx @ y\n\n// %%\nbad(\n\n// %%\n:hbm\n"
	if err != nil || text != want {
		t.Errorf("back: %v\n%s", err, text)
	}
}

func TestFromIPYNBRefuses(t *testing.T) {
	for _, src := range []string{"", "{}", `{"nbformat":3}`, `{"nbformat":4,"cells":[{"cell_type":"code","source":7}]}`, "[]"} {
		if _, err := FromIPYNB([]byte(src)); err == nil {
			t.Errorf("%q: no error", src)
		}
	}
	got, err := FromIPYNB([]byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":"# T\n\nwords"},{"cell_type":"code","source":"x := 1"}]}`))
	if err != nil || got != "// words\n\n// %% T\nx := 1\n" {
		t.Errorf("%q %v", got, err)
	}
}

func TestHTML(t *testing.T) {
	var b strings.Builder
	if err := WriteHTML(&b, sample); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.AutoClose, d.Entity = xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a &lt;b&gt; &amp; c", "Load &lt;script&gt;", `<span class="k">for</span>`, `<span class="s">&#34;&lt;&amp;&gt;&#34;</span>`, ">100%\nred<", "Out[2]", "In[3]:1:5", "simulated device 500ns", "<svg", `<span class="c">:hbm</span>`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, no := range []string{"<script>", "\x1b", "http://", "src="} {
		if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), no) {
			t.Errorf("%q is in the file", no)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("x := a[1:3, :] @ b // c")
	f.Add("`open")
	f.Add("/* open")
	f.Fuzz(func(t *testing.T, src string) {
		var got strings.Builder
		in := false
		for _, r := range highlight(src) { // without the tags the text is whole
			switch {
			case r == '<':
				in = true
			case r == '>' && in:
				in = false
			case !in:
				got.WriteRune(r)
			}
		}
		if len(src) > 0 && got.Len() == 0 {
			t.Errorf("%q vanished", src)
		}
	})
}
