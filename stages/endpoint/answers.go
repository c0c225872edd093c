package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Record is a line of a file of answers: what was asked, of whom, and what came
// back. Key is a hash of the first five others.
type Record struct {
	Key        string          `json:"key"`
	Endpoint   string          `json:"endpoint"` // base URL
	Model      string          `json:"model"`    // as the endpoint knows it
	Parameters json.RawMessage `json:"parameters"`
	Messages   []Message       `json:"messages"`
	Sample     int             `json:"sample"` // which of several answers to the same question

	Answer       string  `json:"answer"`
	Finish       string  `json:"finish,omitempty"` // stop, length, ...
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Counted      bool    `json:"counted,omitempty"` // tokens are counted here, 4 characters each: the endpoint did not
	LatencyUs    int64   `json:"latency_us"`        // of the attempt that succeeded
	Attempts     int     `json:"attempts"`
	Dollars      float64 `json:"dollars"` // at the prices of that day
}

// Answer is what is kept of a record in memory.
type Answer struct {
	Text         string
	InputTokens  int
	OutputTokens int
	Counted      bool
	Cut          bool // at max_tokens
	LatencyUs    int64
}

func (r *Record) kept() Answer {
	return Answer{r.Answer, r.InputTokens, r.OutputTokens, r.Counted, r.Finish == "length", r.LatencyUs}
}

// Answers is a file of answers, one JSON record a line, to which lines are
// added and in which none is changed. Goroutines and processes may share it: a
// line is written whole, under a lock of the file, by one call to the system.
// So a process that is killed loses no answer that it had; what a crash of the
// machine has torn at the end is cut off when the next line is written, and at
// most a second of answers is lost with it.
type Answers struct {
	path    string
	offline bool

	mu     sync.Mutex
	file   *os.File
	end    int64 // of what has been read
	lines  int
	byKey  map[string]Answer
	synced time.Time
}

// OpenAnswers reads a file of answers, which need not exist. One that is
// offline is never written to.
func OpenAnswers(path string, offline bool) (*Answers, error) {
	a := &Answers{path: path, offline: offline, byKey: map[string]Answer{}}
	var err error
	if offline {
		a.file, err = os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return a, nil
		}
	} else {
		a.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("file of answers: %w", err)
	}
	if _, err := a.catchUp(); err != nil {
		a.file.Close()
		return nil, err
	}
	return a, nil
}

// Close closes the file.
func (a *Answers) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

// Len returns the number of answers.
func (a *Answers) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.byKey)
}

// Find returns the answer that has a key.
func (a *Answers) Find(key string) (Answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.byKey[key]
	return answer, ok
}

// catchUp reads what others have written since, up to the last whole line, and
// returns what stands behind that.
func (a *Answers) catchUp() (torn []byte, err error) {
	info, err := a.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("file of answers: %w", err)
	}
	if info.Size() < a.end {
		return nil, fmt.Errorf("%s: the file has become shorter while it was used: give the command again", a.path)
	}
	data := make([]byte, info.Size()-a.end)
	if _, err := a.file.ReadAt(data, a.end); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("file of answers: %w", err)
	}
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return line, nil
		}
		if err := a.read(line); err != nil {
			return nil, err
		}
		data = rest
		a.end += int64(len(line)) + 1
	}
}

// read takes over a line. Of two answers with one key the first counts, since
// results may rest on it.
func (a *Answers) read(line []byte) error {
	a.lines++
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var r Record
	if err := json.Unmarshal(line, &r); err != nil || r.Key == "" || min(r.InputTokens, r.OutputTokens) < 0 || r.LatencyUs < 0 || r.Dollars < 0 {
		return fmt.Errorf("%s:%d: the line is no record of an answer: remove it, and it is asked again", a.path, a.lines)
	}
	if _, known := a.byKey[r.Key]; !known {
		a.byKey[r.Key] = r.kept()
	}
	return nil
}

// Keep adds a record and returns the answer that now has its key: another one,
// where another process was first.
func (a *Answers) Keep(r Record) (Answer, error) {
	line, err := encode(r)
	if err != nil {
		return Answer{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil || a.offline {
		return Answer{}, fmt.Errorf("%s: the file of answers is closed", a.path)
	}
	if err := lock(a.file); err != nil {
		return Answer{}, fmt.Errorf("lock %s: %w; the file system must support flock", a.path, err)
	}
	err = a.add(r, line)
	if err := errors.Join(err, unlock(a.file)); err != nil {
		return Answer{}, err
	}
	return a.byKey[r.Key], nil
}

// add writes a line under the lock.
func (a *Answers) add(r Record, line []byte) error {
	torn, err := a.catchUp()
	if err != nil {
		return err
	}
	if len(torn) > 0 { // whoever wrote it is gone, as we have the lock
		if err := a.repair(torn); err != nil {
			return err
		}
	}
	if _, known := a.byKey[r.Key]; known {
		return nil
	}
	if _, err := a.file.Write(line); err != nil {
		return errors.Join(fmt.Errorf("keep an answer: %w", err), a.file.Truncate(a.end))
	}
	a.end += int64(len(line))
	a.lines++
	a.byKey[r.Key] = r.kept()
	if now := time.Now(); now.Sub(a.synced) > time.Second {
		a.synced = now
		return a.file.Sync()
	}
	return nil
}

// repair completes a last line that lacks its end alone, and cuts off a torn
// one.
func (a *Answers) repair(torn []byte) error {
	if json.Valid(torn) && a.read(torn) == nil {
		a.end += int64(len(torn)) + 1
		_, err := a.file.Write([]byte("\n"))
		return err
	}
	return a.file.Truncate(a.end)
}

// encode writes a record as one line.
func encode(r Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("keep an answer: %w", err)
	}
	return b.Bytes(), nil
}
