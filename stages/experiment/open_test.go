package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.yaml")
	link := filepath.Join(dir, "link.yaml")
	large := filepath.Join(dir, "large.yaml")
	for path, text := range map[string]string{file: least, large: strings.Repeat("#", maxBytes+1)} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "", link: "",
		large:                         "has more than 131072 bytes, expected an experiment file",
		dir:                           "is a directory",
		os.DevNull:                    "is a device, expected a regular file",
		filepath.Join(dir, "nowhere"): "no such file",
	} {
		data, err := ReadFile(path)
		switch {
		case want == "" && (err != nil || string(data) != least):
			t.Errorf("%s: %q, %v", path, data, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}
