package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// WriteDictionary prints the data dictionary: each table, and for each column
// its type, unit, symbol and meaning.
func WriteDictionary(w io.Writer, schemas []Schema) error {
	for i, s := range schemas {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s (%s)\n  %s\n\n", s.Name, s.ID(), s.Doc); err != nil {
			return err
		}
		if err := writeColumns(w, s.Columns); err != nil {
			return err
		}
	}
	return nil
}

func writeColumns(w io.Writer, columns []Column) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  column\ttype\tunit\tsymbol\tmeaning")
	for _, c := range columns {
		typ := c.Type
		if c.Nullable {
			typ += " NULL"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", c.Name, typ, dash(c.Unit), dash(c.Symbol), wrap(c.Doc, 72, "  \t\t\t\t"))
	}
	return t.Flush()
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// wrap breaks a text at spaces into lines of at most width characters, each
// after the first behind indent.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	line := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case line == 0:
		case line+1+n > width:
			b.WriteString("\n" + indent)
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += n
	}
	return b.String()
}
