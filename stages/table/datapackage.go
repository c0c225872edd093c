package table

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// DataPackageName is the file that WriteDataPackage writes.
const DataPackageName = "datapackage.json"

// The Frictionless Data Package, version 1: https://specs.frictionlessdata.io.
// duckdb_type, unit and symbol are this program's additions, which the
// specification allows.
type dataPackage struct {
	Profile   string     `json:"profile"`
	Name      string     `json:"name"`
	Resources []resource `json:"resources"`
}

type resource struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Path        []string    `json:"path"`
	Format      string      `json:"format"`
	MediaType   string      `json:"mediatype"`
	Schema      tableSchema `json:"schema"`
}

type tableSchema struct {
	ID     string  `json:"id"` // as the files' footers have it
	Fields []field `json:"fields"`
}

type field struct {
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	DuckDBType  string       `json:"duckdb_type"`
	Unit        string       `json:"unit,omitempty"`
	Symbol      string       `json:"symbol,omitempty"`
	Description string       `json:"description"`
	Constraints *constraints `json:"constraints,omitempty"`
}

type constraints struct {
	Required bool `json:"required"`
}

// WriteDataPackage writes datapackage.json, which describes the finished
// tables of the folder, their files and their columns. name is the
// experiment's; tables that have no file yet are left out.
func WriteDataPackage(dir, name string, schemas []Schema) error {
	p := dataPackage{Profile: "data-package", Name: packageName(name), Resources: []resource{}}
	for _, s := range schemas {
		paths, err := finishedPaths(filepath.Join(dir, s.Name))
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			continue
		}
		r := resourceOf(s)
		for _, path := range paths {
			r.Path = append(r.Path, s.Name+"/"+strings.TrimSuffix(filepath.Base(path), tempSuffix))
		}
		p.Resources = append(p.Resources, r)
	}
	data, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = (disk{}).writeFile(filepath.Join(dir, DataPackageName), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", DataPackageName, err)
	}
	return nil
}

func resourceOf(s Schema) resource {
	r := resource{
		Name: s.Name, Description: s.Doc, Format: "parquet", MediaType: "application/vnd.apache.parquet",
		Schema: tableSchema{ID: s.ID()},
	}
	for _, c := range s.Columns {
		f := field{
			Name: c.Name, Type: frictionlessType(c.Type), DuckDBType: c.Type,
			Unit: c.Unit, Symbol: c.Symbol, Description: c.Doc,
		}
		if !c.Nullable {
			f.Constraints = &constraints{Required: true}
		}
		r.Schema.Fields = append(r.Schema.Fields, f)
	}
	return r
}

func frictionlessType(duck string) string {
	switch {
	case strings.HasSuffix(duck, "[]"):
		return "array"
	case duck == mapType:
		return "object"
	case duck == "VARCHAR":
		return "string"
	case duck == "BOOLEAN":
		return "boolean"
	case duck == "DOUBLE", duck == "FLOAT":
		return "number"
	default:
		return "integer"
	}
}

// packageName turns a name into one that the specification allows: lower
// case, with ".", "_" and "-".
func packageName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name))
}
