package experiment

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file that a person names. Only regular files will do: reading a
// pipe or a device may never end, and a second run could not read it again. A
// folder is opened, and refused by whoever reads it.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%s is %s, expected a regular file", path, kindOf(info.Mode()))
	}
	return os.Open(path)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// ReadFile reads an experiment file for Load, and no more of a file than tells
// that it is none.
func ReadFile(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s has more than %d bytes, expected an experiment file", path, maxBytes)
	}
	return data, err
}
