package trace

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"switchyard/sim/workload"
)

// Format is one kind of trace.
type Format struct {
	Name    string
	Summary string // one line
	Source  string // who publishes it, where
	Columns string // what is read, with units; the rest is ignored
	Empty   string // what becomes of records without prompt or output tokens, and why
	// BlockTokens is the number of tokens that a hash id stands for; 0 in
	// formats without.
	BlockTokens int32

	strict  bool // records without tokens are errors
	turns   bool // turns are counted here, in order of time within a session
	rows    bool // places are rows, not lines
	matches func(head []byte) bool
	read    func(in *input, emit emitFunc) error
}

// emitFunc takes a record. Its arrival is in microseconds on the source's own
// clock; seq is its number in the source, which formats other than parquet
// leave at 0, and its After the number of another record. It must keep nothing
// of the record but Tags.
type emitFunc func(line int, seq int64, r *workload.Request) error

// randomAccess is what the parquet format needs to read a source in place.
type randomAccess interface {
	io.ReaderAt
	io.Seeker
}

// input is what a format reads from.
type input struct {
	file        string
	r           io.Reader    // unpacked
	whole       randomAccess // the same, where it can be read in place; nil otherwise
	blockTokens int32
	broken      error // that the first bytes already ran into
}

// formats is the registry; Detect tries them in this order.
var formats = []Format{mooncake, qwenBailian, azure, burstGPT, requestsFormat, measuredFormat, parquetFormat}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats) }

// Find returns the format of a name.
func Find(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Names returns the names of all formats, in the registry's order.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Detect tells the format from the first bytes of the unpacked file, where
// they are not conclusive from the ending of its name. A few kilobytes do.
func Detect(name string, head []byte) (Format, bool) {
	head = bytes.TrimPrefix(head, []byte(bom))
	for _, f := range formats {
		if f.matches(head) {
			return f, true
		}
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	if path.Ext(name) == ".parquet" {
		return Find("parquet")
	}
	return Format{}, false
}

// Read decodes records as they stand in an unpacked source: in its order, with
// arrivals in microseconds of its clock, and also those without tokens. Most
// callers want the package's Read, which does the rest.
func (f Format) Read(r io.Reader, emit func(line int, r *workload.Request) error) error {
	in := &input{file: f.Name, r: r, blockTokens: f.BlockTokens}
	in.whole, _ = r.(randomAccess)
	return f.read(in, func(line int, _ int64, r *workload.Request) error { return emit(line, r) })
}

// unknown is the error for a file whose format cannot be told.
func unknown(file string, head []byte) error {
	names := strings.Join(Names(), ", ")
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		return &Error{File: file, Problem: "file is empty", Expected: "a trace in one of the formats " + names}
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return &Error{File: file, Problem: "file is compressed by zstd", Expected: "gzip or no compression: unpack it first"}
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return &Error{File: file, Problem: "file is text in UTF-16", Expected: "UTF-8: convert it first"}
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return &Error{File: file, Line: 1, Problem: "format cannot be told", Text: lineText(bytes.TrimSpace(line)),
		Expected: fmt.Sprintf("one of %s; name it in the field format", names)}
}
