package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/tpush/tpush/trace"
)

var csvFormat = Format{
	Name: "csv", Extension: ".csv", Write: writeCSV,
	Doc:   "one event a row, one field a column",
	Opens: "spreadsheets, pandas, DuckDB",
}

var textFormat = Format{
	Name: "text", Extension: ".trace", Write: writeText,
	Doc:   "one event a line, as events.md says; tpush reads it back",
	Opens: "grep, an editor, tpush",
}

// writeCSV writes a head and one row an event. Numbers are in base units
// (nanoseconds, bytes); a field that an event does not fill is empty.
func writeCSV(w io.Writer, in Input) error {
	cw := csv.NewWriter(w)
	fields := trace.Fields()
	row := []string{"seq", "kind"}
	for _, f := range fields {
		name := f.Key
		if f.Unit != "" && f.Unit != f.Key {
			name += "_" + f.Unit
		}
		row = append(row, name)
	}
	row = append(row, "place")
	if err := cw.Write(row); err != nil {
		return err
	}
	for i := range in.Events {
		e := &in.Events[i]
		row = append(row[:0], strconv.FormatUint(e.Seq, 10), e.Kind.String())
		for j := range fields {
			row = append(row, fields[j].Get(e))
		}
		row = append(row, in.spot(e.Stack.Top()))
		if err := cw.Write(row); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

func writeText(w io.Writer, in Input) error {
	if _, err := fmt.Fprintf(w, "# tpush trace: session %q, chip %q, mode %q, %d events, %d dropped\n",
		in.Meta.Session, in.Meta.Chip, in.Meta.Mode, len(in.Events), in.Dropped); err != nil {
		return err
	}
	return trace.WriteText(w, in.Events)
}
