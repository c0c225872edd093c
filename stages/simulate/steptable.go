package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"switchyard/sim/hardware"
)

var stepColumns = []string{"prefill_tokens", "decodes", "context_tokens", "step_us"}

// ReadSteps reads a CSV file of measured steps: a header with prefill_tokens,
// decodes, context_tokens (summed over the decodes, before their new tokens)
// and step_us, in any order and among other columns, which are left out.
func ReadSteps(file string, data []byte) ([]hardware.Point, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.ReuseRecord, r.TrimLeadingSpace = true, true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header with %s: %w", file, strings.Join(stepColumns, ", "), err)
	}
	var at [4]int
	for i, name := range stepColumns {
		at[i] = slices.IndexFunc(header, func(h string) bool { return strings.TrimSpace(h) == name })
		if at[i] < 0 {
			return nil, fmt.Errorf("%s:1: no column %s, expected %s", file, name, strings.Join(stepColumns, ", "))
		}
	}
	var points []hardware.Point
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := r.FieldPos(0)
		p, err := stepPoint(record, at)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		points = append(points, p)
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("%s: no steps below the header, expected at least one", file)
	}
	return points, nil
}

// stepPoint reads one line.
func stepPoint(record []string, at [4]int) (p hardware.Point, err error) {
	for i, to := range []*int64{&p.Prefill, &p.Decodes, &p.Context} {
		text := strings.TrimSpace(record[at[i]])
		if *to, err = strconv.ParseInt(text, 10, 48); err != nil {
			return p, fmt.Errorf("%s is %q, expected a whole number", stepColumns[i], text)
		}
	}
	text := strings.TrimSpace(record[at[3]])
	if p.Us, err = strconv.ParseFloat(text, 64); err != nil {
		return p, fmt.Errorf("%s is %q, expected a number", stepColumns[3], text)
	}
	return p, p.Check()
}

// stepsDigest identifies points.
func stepsDigest(points []hardware.Point) string {
	h := sha256.New()
	for _, p := range points {
		fmt.Fprintf(h, "%d,%d,%d,%s\n", p.Prefill, p.Decodes, p.Context, strconv.FormatFloat(p.Us, 'g', -1, 64))
	}
	return hex.EncodeToString(h.Sum(nil))
}
