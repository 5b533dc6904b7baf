// Package data brings numbers in: an embedded set of handwritten digits,
// tables of comma-separated values, IDX and safetensors files, text, batches.
//
// It never trains. It imports tpu and checkpoint. Invariant: reading the same
// bytes gives the same tensors.
//
// The digits are the test set of "Optical Recognition of Handwritten Digits"
// (E. Alpaydin, C. Kaynak, 1998; UCI Machine Learning Repository, DOI
// 10.24432/C50P49), licensed CC BY 4.0.
package data

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/tpush/tpush/runtime/tpu"
)

//go:embed digits.csv.gz
var digits []byte

// Sizes of the digits: rows of 8×8 pixels, of which the first DigitsTrain are for training.
const (
	DigitsRows  = 1797
	DigitsTrain = 1437
	DigitsSide  = 8
)

// Digits gives 1437 handwritten digits to train with and 360 to test with:
// x are f32[n,64] of pixels in [0, 1], y are i64[n] of labels 0 to 9.
func Digits() (trainX, trainY, testX, testY *tpu.Tensor) {
	x, y := readDigits()
	n := DigitsTrain
	px := DigitsSide * DigitsSide
	return tpu.From(x[:n*px], n, px), tpu.I64.From(y[:n]), tpu.From(x[n*px:], DigitsRows-n, px), tpu.I64.From(y[n:])
}

// readDigits decodes the embedded table.
func readDigits() (x []float32, y []int) {
	z, err := gzip.NewReader(bytes.NewReader(digits))
	if err != nil {
		panic(&tpu.Error{Op: "digits", Err: err})
	}
	rows, err := readRows(z)
	if err != nil {
		panic(&tpu.Error{Op: "digits", Err: err})
	}
	for _, r := range rows {
		last := len(r) - 1
		for _, v := range r[:last] {
			x = append(x, float32(v/16))
		}
		y = append(y, int(r[last]))
	}
	return x, y
}

// A CSVError says which field of a table is no number.
type CSVError struct {
	Row, Column int // counted from 1
	Text        string
}

// Error names the field.
func (e *CSVError) Error() string {
	return fmt.Sprintf("row %d, column %d: %q is no number", e.Row, e.Column, e.Text)
}

// CSVOptions are the options of CSV.
type CSVOptions struct {
	Comma  rune // ',' when not set
	Header bool // the first row names the columns
}

// CSV reads a table of numbers: f32[rows,columns].
func CSV(path string, opts ...CSVOptions) *tpu.Tensor {
	var o CSVOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	f, err := os.Open(path)
	if err != nil {
		panic(&tpu.Error{Op: "csv", Err: err})
	}
	defer f.Close()
	t, err := ReadCSV(f, o)
	if err != nil {
		panic(&tpu.Error{Op: "csv", Err: err})
	}
	return t
}

// ReadCSV is CSV of a reader.
func ReadCSV(r io.Reader, o CSVOptions) (*tpu.Tensor, error) {
	rows, err := readTable(r, o)
	if err != nil {
		return nil, err
	}
	cols := 0
	if len(rows) > 0 {
		cols = len(rows[0])
	}
	flat := make([]float32, 0, len(rows)*cols)
	for _, r := range rows {
		for _, v := range r {
			flat = append(flat, float32(v))
		}
	}
	return tpu.From(flat, len(rows), cols), nil
}

func readRows(r io.Reader) ([][]float64, error) { return readTable(r, CSVOptions{}) }

func readTable(r io.Reader, o CSVOptions) ([][]float64, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	c.TrimLeadingSpace = true
	if o.Comma != 0 {
		c.Comma = o.Comma
	}
	var rows [][]float64
	for n := 1; ; n++ {
		rec, err := c.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if n == 1 && o.Header {
			continue
		}
		row := make([]float64, len(rec))
		for i, s := range rec {
			if row[i], err = strconv.ParseFloat(s, 64); err != nil {
				return nil, &CSVError{n, i + 1, s}
			}
		}
		rows = append(rows, row)
	}
}
