package run

import (
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// barParts is the bar's resolution.
const barParts = 10_000

// bar draws the meter on a terminal; a nil bar draws nothing.
type bar struct {
	container  *mpb.Progress
	bar        *mpb.Bar
	meter      *meter
	quit, gone chan struct{}
}

// startBar draws on w if it is a terminal.
func startBar(w io.Writer, name, unit string, m *meter) *bar {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return drawBar(name, unit, m, mpb.WithOutput(w))
}

// Columns is the width of a terminal; 0 of anything else.
func Columns(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func drawBar(name, unit string, m *meter, options ...mpb.ContainerOption) *bar {
	b := &bar{meter: m, quit: make(chan struct{}), gone: make(chan struct{})}
	b.container = mpb.New(append(options, mpb.WithRefreshRate(200*time.Millisecond), mpb.WithWidth(100))...)
	b.bar = b.container.AddBar(barParts,
		mpb.PrependDecorators(decor.Name(name+" "), decor.NewPercentage("%3d ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + m.read().line(unit) })),
	)
	go b.follow()
	return b
}

// follow moves the bar until it is stopped. The bar would end by itself at
// its total, before the tables are written, so it stays a step below.
func (b *bar) follow() {
	defer close(b.gone)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-b.quit:
			return
		case <-tick.C:
			b.bar.SetCurrent(min(barParts-1, int64(b.meter.read().Share*barParts)))
		}
	}
}

// stop leaves the bar as it is and ends its goroutines.
func (b *bar) stop() {
	if b == nil {
		return
	}
	close(b.quit)
	<-b.gone
	if p := b.meter.read(); p.Ended == p.Tasks {
		b.bar.SetCurrent(barParts)
	} else {
		b.bar.Abort(false)
	}
	b.container.Wait()
}
