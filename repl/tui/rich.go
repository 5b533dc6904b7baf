package tui

import (
	"encoding/json"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/viz"
)

// A form is a way to show a tensor.
type form uint8

const (
	asText  form = iota // its numbers, and their statistics
	asHeat              // a heat map of a slice
	asHist              // how its numbers are distributed
	asSpark             // its numbers in order, as a line
	numForms
)

var formNames = [numForms]string{"numbers", "heat map", "histogram", "line"}

// Sizes of the drawings of a tensor.
const (
	heatRows  = 12
	heatCols  = 72
	histRows  = 9
	sparkRows = 5
)

// tensor gives what is known of the tensor that an output shows, nil when it shows none.
func (o *output) tensor() *inspect.Tensor {
	text := o.data[inspect.TensorMIME]
	if text == "" || o.decoded {
		return o.rich
	}
	o.decoded = true
	var t inspect.Tensor
	if json.Unmarshal([]byte(text), &t) == nil {
		o.rich = &t
	}
	return o.rich
}

// drawTensor draws a tensor in the form that is chosen; nil when the text alone is shown.
func (o *output) drawTensor(w int, t *Theme) []string {
	x := o.tensor()
	if x == nil || !x.Known || x.Stats.Elements < 2 {
		return nil
	}
	var d viz.Drawing
	rows, wide := 0, w
	switch o.form {
	case asText:
		return []string{paint(t.Dim, glyph.Fit(x.Statistics(), min(w, glyph.Width(x.Statistics())), t.More))}
	case asHeat:
		wide = min(w, max(heatCols, 1))
		rows = min(heatRows, (x.Slice.Rows+1)/2+1)
		if t.Viz.Full == "#" || t.Name == "mono" {
			rows = min(heatRows, x.Slice.Rows+1)
		}
		d = x.HeatMap()
	case asHist:
		d, rows = x.Histogram(), histRows
		wide = min(w, heatCols)
	case asSpark:
		d, rows = x.Spark(), sparkRows
	}
	head := x.Summary()
	if o.form == asHeat && x.Slice.Index != "" {
		head += "  " + x.Slice.Index
	}
	list := []string{glyph.Fit(head, min(w, glyph.Width(head)), t.More)}
	list = append(list, d.Draw(t.Viz, wide, rows)...)
	return append(list, paint(t.Dim, glyph.Fit(x.Statistics(), min(w, glyph.Width(x.Statistics())), t.More)))
}

// nextForm shows the values of the selected cell in another form.
func (m *Model) nextForm() {
	if len(m.nb.cells) == 0 {
		return
	}
	c := m.nb.cells[m.selected]
	for _, o := range c.outputs {
		if x := o.tensor(); x != nil && x.Known {
			o.form = (o.form + 1) % numForms
			m.say("shown as %s; t for the next form", formNames[o.form])
			c.touch()
			m.selectCell(m.selected)
			return
		}
	}
	m.say("the cell shows no tensor whose numbers are there")
}
