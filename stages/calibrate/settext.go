package calibrate

import (
	"fmt"
	"strconv"

	"switchyard/sim/param"
)

// setText sets a parameter from the text of a command line.
func setText(p any, name, text string) error {
	var known []string
	for _, f := range param.Fields(p) {
		known = append(known, f.Name)
		if f.Name != name {
			continue
		}
		var value any = text
		var err error
		switch f.Kind {
		case "int":
			value, err = strconv.ParseInt(text, 10, 64)
		case "number":
			value, err = strconv.ParseFloat(text, 64)
		case "bool":
			value, err = strconv.ParseBool(text)
		}
		if err != nil {
			return fmt.Errorf("value %q, expected %s", text, f.Expected())
		}
		return param.Set(p, name, value)
	}
	if near := param.Nearest(name, known); near != "" {
		return fmt.Errorf("there is no such parameter; did you mean %s?", near)
	}
	return fmt.Errorf("there is no such parameter; see switchyard list schedulers")
}
