package outcomes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"switchyard/stages/trace"
)

// ReadTexts returns the rows of a Parquet file as texts by column, for
// questions and answers in words, in which "None" and "NA" mean what they say;
// columns that are NULL are left out of a row, lists and structures of all.
func ReadTexts(path string) (all []map[string]string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	row := 0
	defer damaged(path, &row, &err)
	p, err := openParquet(path, f, info.Size())
	if err != nil {
		return nil, err
	}
	for {
		for len(p.have) == 0 {
			switch err := p.fetch(); {
			case errors.Is(err, io.EOF):
				return all, nil
			case err != nil:
				return nil, err
			}
		}
		p.row++
		row = p.row
		fields := map[string]string{}
		for _, v := range p.have[0] {
			if i := v.Column(); i >= 0 && i < len(p.column) && p.column[i] >= 0 && !v.IsNull() {
				fields[p.header[p.column[i]]] = wording(v, p.scale[p.column[i]])
			}
		}
		p.have = p.have[1:]
		if all = append(all, fields); len(all) > maxAnswers {
			return nil, &trace.Error{File: path, Problem: "file has too many rows", Expected: fmt.Sprintf("at most %d", maxAnswers)}
		}
	}
}

// wording is a value as a person would write it.
func wording(v parquet.Value, scale float64) string {
	if v.Kind() == parquet.ByteArray {
		return string(v.ByteArray())
	}
	if c := decode(v, scale); c.kind == isNumber && v.Kind() != parquet.Boolean {
		return strconv.FormatFloat(c.x, 'g', -1, 64)
	}
	return v.String()
}
