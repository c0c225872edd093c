package table

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// task is one task's rows in a file. In a file, tasks follow each other
// without gaps.
type task struct {
	key   string
	rows  int64
	place int32 // position in the experiment at the last compaction; -1 in parts
}

type taskList []task

// check refuses keys that the footer's text form could not hold.
func checkKey(key string) error {
	if key == "" || strings.ContainsAny(key, "\t\n") {
		return fmt.Errorf("task key %q, expected text without tabs and line ends", key)
	}
	return nil
}

// store puts the list into a footer: a line "key<TAB>rows<TAB>place" a task,
// and a checksum, since the format itself protects pages only.
func (l taskList) store(set func(key, value string)) {
	var b strings.Builder
	for _, t := range l {
		b.WriteString(t.key)
		b.WriteByte('\t')
		b.WriteString(strconv.FormatInt(t.rows, 10))
		b.WriteByte('\t')
		b.WriteString(strconv.FormatInt(int64(t.place), 10))
		b.WriteByte('\n')
	}
	set(keyTasks, b.String())
	set(keyTasksSum, checksum(b.String()))
}

func checksum(text string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text)))
}

// parseTasks reads what store wrote.
func parseTasks(text, sum string) (taskList, error) {
	if checksum(text) != sum {
		return nil, fmt.Errorf("the list of tasks does not match its checksum")
	}
	var l taskList
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("the list of tasks has the line %q", line)
		}
		rows, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || rows < 0 {
			return nil, fmt.Errorf("task %s has the row count %q", fields[0], fields[1])
		}
		place, err := strconv.ParseInt(fields[2], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("task %s has the place %q", fields[0], fields[2])
		}
		l = append(l, task{key: fields[0], rows: rows, place: int32(place)})
	}
	return l, nil
}

// rows returns the sum of the tasks' rows.
func (l taskList) rows() int64 {
	var n int64
	for _, t := range l {
		n += t.rows
	}
	return n
}
