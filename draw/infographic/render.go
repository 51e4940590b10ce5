package infographic

import (
	"math"

	"atelier/draw/svg"
)

const (
	gutter   = 18.0
	inner    = 18.0
	bodySize = 13.5
	bodyStep = 19.0
	smallest = 14.0 // type size of a key figure
	css      = ".hd{font-size:27px;font-weight:700}.sub{font-size:15px}.fig{font-size:30px;font-weight:700}.h2{font-size:16.5px;font-weight:650}.body{font-size:13.5px}.ic{fill:none;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}.card{stroke-width:1}.bg{fill-opacity:.25}" +
		".band{fill:#0b6fb8}.onband{fill:#ffffff}@media (prefers-color-scheme:dark){.band{fill:#10436b}}"
)

// pen draws the parts of a drawing on a canvas.
type pen struct {
	s *svg.Canvas
	d *drawing
}

// figures draws the key figures as cards, at most four in a row, and returns the y below them.
func (p pen) figures(b svg.Box) float64 {
	n := len(p.d.figures)
	if n == 0 {
		return b.Y
	}
	cols := max(1, min(n, 4, int(b.W/170)))
	room := func(cols int) float64 { return (b.W-gutter*float64(cols-1))/float64(cols) - 2*inner - 34 }
	for _, f := range p.d.figures { // a value must not be cut off in the smallest type if one card in a row has room for it
		for need := svg.Width(f.value, smallest*svg.Bold); cols > 1 && need > room(cols) && need <= room(1); {
			cols--
		}
	}
	if n > cols && n%cols == 1 && cols > 2 { // no lone card in the last row
		cols--
	}
	w := (b.W - gutter*float64(cols-1)) / float64(cols)
	y := b.Y
	for from := 0; from < n; from += cols {
		row := p.d.figures[from:min(n, from+cols)]
		high, size := 0.0, 30.0
		for _, f := range row {
			size = min(size, fitting(f, w-2*inner)) // one size in a row
			high = max(high, 74+17*float64(len(svg.Wrap(f.label, bodySize, w-2*inner, 3))))
		}
		for i, f := range row {
			p.figure(svg.Box{X: b.X + (w+gutter)*float64(i), Y: y, W: w, H: high}, f, size, from+i)
		}
		y += high + gutter
	}
	return y
}

// roomy is the inner width above which a card has an icon beside its value.
const roomy = 120

// fitting returns the type size at which a value fits into its card.
func fitting(f figure, room float64) float64 {
	if f.icon != "" && room > roomy {
		room -= 34
	}
	size := 30.0
	for size > smallest && svg.Width(f.value, size*svg.Bold) > room {
		size--
	}
	return size
}

func (p pen) figure(b svg.Box, f figure, size float64, k int) {
	p.s.Rect(b, svg.NodeClass(k)+" card", 10)
	room := b.W - 2*inner
	rtl := svg.RTL(f.value + " " + f.label)
	x, anchor, at := b.X+inner, "start", b.Right()-inner-26
	if rtl {
		x, anchor, at = b.Right()-inner, "end", b.X+inner
	}
	if f.icon != "" && room > roomy {
		p.icon(f.icon, at, b.Y+16, k)
		room -= 34
	}
	p.s.Tag(`<text x="%s" y="%s" font-size="%s" font-weight="700" class="i"%s>%s</text>`, svg.Px(x), svg.Px(b.Y+44), svg.Px(size), svg.Anchor(anchor, svg.RTL(f.value)), svg.Escape(svg.Fit(f.value, size*svg.Bold, room)))
	p.s.Lines(x, b.Y+68, 17, "body i", anchor, svg.Wrap(f.label, bodySize, b.W-2*inner, 3))
}

// icon draws an icon in a square of 26 pixels.
func (p pen) icon(path string, x, y float64, k int) {
	p.s.Tag(`<g transform="translate(%s %s)"><path d="%s" class="ic %s" transform="scale(1.083)"/></g>`, svg.Px(x), svg.Px(y), path, svg.StrokeClass(k))
}

// sections places the blocks in one or two columns, each in the shorter one; wide blocks span both.
func (p pen) sections(b svg.Box) float64 {
	cols := 1
	if b.W >= 640 && len(p.d.sections) > 1 {
		cols = 2
	}
	w := (b.W - gutter*float64(cols-1)) / float64(cols)
	y := []float64{b.Y, b.Y}
	for i := range p.d.sections {
		s, c := &p.d.sections[i], 0
		if y[1] < y[0]-1 {
			c = 1
		}
		at := svg.Box{X: b.X + (w+gutter)*float64(c), Y: y[c], W: w}
		across := cols == 1 || s.wide || i == len(p.d.sections)-1 && math.Abs(y[0]-y[1]) < 1
		if across {
			at = svg.Box{X: b.X, Y: max(y[0], y[1]), W: b.W}
		}
		y[c] = p.section(at, s, i) + gutter
		if across {
			y[1-c] = y[c]
		}
	}
	return max(y[0], y[1])
}

// section draws one block on a card and returns the card's lower side.
func (p pen) section(b svg.Box, s *section, k int) float64 {
	var in svg.Canvas
	q := pen{&in, p.d}
	room := b.W - 2*inner
	y := b.Y + inner
	if s.heading != "" {
		y = q.heading(svg.Box{X: b.X + inner, Y: y, W: room}, s, k)
	}
	if s.text != "" {
		lines := svg.Wrap(s.text, bodySize, room, 14)
		in.Block(b.X+inner, room, y+13, bodyStep, "body i", lines)
		y += bodyStep*float64(len(lines)) + 6
	}
	if s.bars {
		y = q.bars(svg.Box{X: b.X + inner, Y: y, W: room}, s.items, k)
	} else {
		y = q.points(svg.Box{X: b.X + inner, Y: y, W: room}, s.items, k)
	}
	if s.chart != nil {
		high := math.Round(min(420, max(260, (b.W-8)*0.6))) + 10*float64(s.chart.Names)
		top := y - 8
		if s.heading == "" && s.text == "" && len(s.items) == 0 {
			top = b.Y + 2
		}
		in.Tag(`<g transform="translate(%s %s)">%s</g>`, svg.Px(b.X+4), svg.Px(top), s.chart.Draw(math.Floor(b.W-8), high))
		y = top + high - 10
	}
	card := svg.Box{X: b.X, Y: b.Y, W: b.W, H: y + inner - 4 - b.Y}
	p.s.Rect(card, "b g card", 10)
	edge := svg.Box{X: card.X, Y: card.Y + 10, W: 4, H: card.H - 20}
	if svg.RTL(s.heading + " " + s.text) {
		edge.X = card.Right() - 4
	}
	p.s.Rect(edge, svg.FillClass(k%8), 2)
	_, _ = p.s.Write(in.Bytes()) // a buffer does not fail
	return card.Bottom()
}

// heading writes a section's heading beside its icon and returns the y below it.
func (p pen) heading(b svg.Box, s *section, k int) float64 {
	x, room := b.X, b.W
	if s.icon != "" {
		room -= 36
		at := b.X
		if svg.RTL(s.heading) {
			at = b.Right() - 26
		} else {
			x += 36
		}
		p.icon(s.icon, at, b.Y-3, k)
	}
	lines := svg.Wrap(s.heading, 16.5*svg.Bold, room, 3)
	p.s.Block(x, room, b.Y+15, 22, "h2 i", lines)
	return b.Y + max(26, 22*float64(len(lines))) + 6
}

func (p pen) points(b svg.Box, items []item, k int) float64 {
	y := b.Y
	for _, it := range items {
		text := it.line()
		dot, x := b.X+4, b.X+18
		if svg.RTL(text) {
			dot, x = b.Right()-4, b.X
		}
		p.s.Circle(svg.Point{X: dot, Y: y + 8.5}, 3.2, svg.FillClass(k%8))
		lines := svg.Wrap(text, bodySize, b.W-18, 4)
		p.s.Block(x, b.W-18, y+13, bodyStep, "body i", lines)
		y += bodyStep*float64(len(lines)) + 4
	}
	return y
}

// bars draws values as bars on one scale, with their numbers.
func (p pen) bars(b svg.Box, items []item, k int) float64 {
	most := 0.0
	for _, it := range items {
		most = max(most, it.number)
	}
	y := b.Y
	for _, it := range items {
		value := svg.Fit(it.shown, bodySize*svg.Bold, b.W*0.75)
		p.s.Text(b.X, y+13, "body i", "start", svg.Fit(it.text, bodySize, b.W-svg.Width(value, bodySize*svg.Bold)-12))
		p.s.Text(b.Right(), y+13, "d i", "end", value)
		track := svg.Box{X: b.X, Y: y + 19, W: b.W, H: 8}
		p.s.Rect(track, svg.FillClass(6)+" bg", 4)
		if most > 0 && it.number > 0 {
			track.W = max(4, b.W*it.number/most)
			p.s.Rect(track, svg.FillClass(k%8), 4)
		}
		y += 37
	}
	return y
}
