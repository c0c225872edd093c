package trace

import (
	"math"
	"strconv"
)

const (
	wantTokens = "a whole number from 0 to 2147483647"
	// exactUs bounds times: below it every microsecond is a float64. It is 285
	// years, so Unix times fit as well.
	exactUs = 1 << 53
)

// micros converts a time, given in units of so many microseconds, to whole
// microseconds, rounded to the nearest.
func micros(field string, x, unit float64) (int64, error) {
	us := math.Round(x * unit)
	if !(us >= 0 && us < exactUs) { // also NaN
		return 0, bad(field, strconv.FormatFloat(x, 'g', -1, 64), "a time of at least 0 and below 285 years")
	}
	return int64(us), nil
}

// tokens converts a count; 512.0 is one too, as spreadsheets and data frames
// write it.
func tokens(field string, x float64) (int32, error) {
	if !(x >= 0 && x <= math.MaxInt32) || x != math.Trunc(x) {
		return 0, bad(field, strconv.FormatFloat(x, 'g', -1, 64), wantTokens)
	}
	return int32(x), nil
}

// number parses a CSV field; plain digits, the usual case, take a short way.
func number(field string, text []byte) (float64, error) {
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<40 {
			return slowNumber(field, text)
		}
		n = 10*n + int64(c-'0')
	}
	if len(text) == 0 {
		return 0, bad(field, "empty", "a number")
	}
	return float64(n), nil
}

func slowNumber(field string, text []byte) (float64, error) {
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, bad(field, quote(string(text)), "a number")
	}
	return x, nil
}
