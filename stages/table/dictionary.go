package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// WriteDictionary prints the data dictionary: each table, and for each column
// its type, unit, symbol and meaning, which is wrapped at so many characters a
// line, where that leaves room for it; 0 is no terminal's width.
func WriteDictionary(w io.Writer, schemas []Schema, width int) error {
	for i, s := range schemas {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s (%s)\n  %s\n\n", s.Name, s.ID(), s.Doc); err != nil {
			return err
		}
		if err := writeColumns(w, s.Columns, width); err != nil {
			return err
		}
	}
	return nil
}

const (
	widestMeaning    = 72 // characters of a line, easily read
	narrowestMeaning = 24 // below, a line holds three words
)

func writeColumns(w io.Writer, columns []Column, width int) error {
	rows := [][]string{{"column", "type", "unit", "symbol"}}
	for _, c := range columns {
		typ := c.Type
		if c.Nullable {
			typ += " NULL"
		}
		rows = append(rows, []string{c.Name, typ, dash(c.Unit), dash(c.Symbol)})
	}
	meaning := widestMeaning
	if width > 0 {
		meaning = min(meaning, max(narrowestMeaning, width-leftOf(rows)))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, row := range rows {
		text := "meaning"
		if i > 0 {
			text = wrap(columns[i-1].Doc, meaning, "  \t\t\t\t")
		}
		fmt.Fprintf(t, "  %s\t%s\n", strings.Join(row, "\t"), text)
	}
	return t.Flush()
}

// leftOf is the width of columns with the space before and between them.
func leftOf(rows [][]string) int {
	left := 2
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, utf8.RuneCountInString(row[i]))
		}
		left += widest + 2
	}
	return left
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
