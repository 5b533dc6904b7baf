package publish

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// The notebook format, version 4.5 (nbformat.readthedocs.io). Field order is
// that of Jupyter, so that a notebook saved there again shows small diffs.
type ipynb struct {
	Cells    []ipynbCell    `json:"cells"`
	Metadata map[string]any `json:"metadata"`
	Format   int            `json:"nbformat"`
	Minor    int            `json:"nbformat_minor"`
}

type ipynbCell struct {
	Type     string          `json:"cell_type"`
	Count    *int            `json:"execution_count,omitempty"`
	ID       string          `json:"id"`
	Metadata map[string]any  `json:"metadata"`
	Outputs  *[]any          `json:"outputs,omitempty"`
	Source   json.RawMessage `json:"source"`
}

type ipynbStream struct {
	Name string   `json:"name"`
	Type string   `json:"output_type"`
	Text []string `json:"text"`
}

type ipynbResult struct {
	Data     map[string]any `json:"data"`
	Count    int            `json:"execution_count"`
	Metadata map[string]any `json:"metadata"`
	Type     string         `json:"output_type"`
}

type ipynbError struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Type      string   `json:"output_type"`
	Traceback []string `json:"traceback"`
}

// WriteIPYNB writes a Jupyter notebook.
func WriteIPYNB(w io.Writer, d Document) error {
	nb := ipynb{
		Cells: []ipynbCell{}, Format: 4, Minor: 5,
		Metadata: map[string]any{
			"kernelspec":    map[string]any{"display_name": "tpush (Go)", "language": "go", "name": "tpush"},
			"language_info": map[string]any{"file_extension": ".tpu", "mimetype": "text/x-go", "name": "go"},
		},
	}
	for i, c := range d.Cells {
		if c.Title != "" {
			nb.Cells = append(nb.Cells, ipynbCell{Type: "markdown", ID: fmt.Sprintf("title-%d", i+1), Metadata: map[string]any{}, Source: source("## " + c.Title)})
		}
		outputs := c.outputs()
		cell := ipynbCell{Type: "code", ID: fmt.Sprintf("cell-%d", i+1), Metadata: map[string]any{}, Outputs: &outputs, Source: source(c.Source)}
		count := c.Output.Count
		cell.Count = &count
		if c.Output.DeviceNS > 0 {
			cell.Metadata["tpush"] = map[string]any{"device_ns": c.Output.DeviceNS, "launches": c.Output.Launches, "hbm_delta_bytes": c.Output.HBMDeltaBytes}
		}
		nb.Cells = append(nb.Cells, cell)
	}
	b, err := json.MarshalIndent(nb, "", " ")
	if err != nil {
		return err
	}
	b = neverRan.ReplaceAll(b, []byte(`"execution_count": null`))
	_, err = w.Write(append(b, '\n'))
	return err
}

// neverRan is the count of a cell that did not run: Jupyter writes null.
var neverRan = regexp.MustCompile(`"execution_count": 0\b`)

// source is a text as a list of lines.
func source(s string) json.RawMessage {
	b, _ := json.Marshal(lines(s)) // strings always encode
	return b
}

func (c Cell) outputs() []any {
	o := c.Output
	list := []any{}
	for _, s := range []struct{ name, text string }{{"stdout", o.Stdout}, {"stderr", o.Stderr}} {
		if s.text != "" {
			list = append(list, ipynbStream{s.name, "stream", lines(s.text)})
		}
	}
	if len(o.Data) > 0 {
		data := map[string]any{}
		for k, v := range o.Data {
			if strings.HasSuffix(k, "json") && json.Valid([]byte(v)) {
				data[k] = json.RawMessage(v)
				continue
			}
			data[k] = lines(v)
		}
		list = append(list, ipynbResult{data, o.Count, map[string]any{}, "execute_result"})
	}
	if len(o.Error) > 0 {
		name, value, _ := strings.Cut(o.Error[0], ": ")
		list = append(list, ipynbError{name, value, "error", o.Error})
	}
	return list
}

// A FormatError says why a file is no notebook.
type FormatError struct{ Why string }

// Error gives the reason.
func (e *FormatError) Error() string { return "no notebook: " + e.Why }

// FromIPYNB reads a Jupyter notebook as the text of a .tpu file. The first
// heading before a cell becomes its title, other markdown a comment; outputs
// are left behind.
func FromIPYNB(b []byte) (string, error) {
	var nb struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
		Format int `json:"nbformat"`
	}
	if err := json.Unmarshal(b, &nb); err != nil {
		return "", &FormatError{err.Error()}
	}
	if nb.Format != 4 {
		return "", &FormatError{fmt.Sprintf("format %d, want 4", nb.Format)}
	}
	var out strings.Builder
	title := ""
	for i, c := range nb.Cells {
		text, err := sourceText(c.Source)
		if err != nil {
			return "", &FormatError{fmt.Sprintf("cell %d: %v", i+1, err)}
		}
		if c.Type == "code" {
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(strings.TrimRight("// %% "+title, " ") + "\n" + strings.TrimRight(text, "\n") + "\n")
			title = ""
			continue
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if h := strings.TrimLeft(line, "#"); h != line && title == "" {
				title = strings.TrimSpace(h)
				continue
			}
			if strings.TrimSpace(line) != "" {
				out.WriteString("// " + line + "\n")
			}
		}
	}
	return out.String(), nil
}

// sourceText reads a source: one text or a list of lines.
func sourceText(raw json.RawMessage) (string, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		return s, nil
	}
	var list []string
	err := json.Unmarshal(raw, &list)
	return strings.Join(list, ""), err
}
