package mermaid

import (
	"cmp"
	"math"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

const (
	partyHigh  = 40.0
	textSize   = 12.5
	textStep   = 15.0
	blockInset = 9.0
	minNote    = 180.0 // the width up to which a note may be wider than its columns
)

// seqPen holds the positions of a sequence while it is drawn.
type seqPen struct {
	*sequence
	s      svg.Canvas
	x      []float64 // centre of each column
	half   []float64 // half the width of each heading
	lines  [][]string
	top    float64
	y      float64
	active [][]float64 // where open activities begin, by party
	blocks []float64   // where open blocks begin
	back   svg.Canvas  // drawn under the wires: activities
	seams  svg.Canvas  // borders of blocks
	left   float64
	right  float64
}

func (d *sequence) draw(page *svg.Page) ([]byte, error) {
	page.Alt = cmp.Or(page.Alt, d.describe(page.Title))
	p := &seqPen{sequence: d, active: make([][]float64, len(d.parties))}
	p.columns(page.W - 2*page.Pad())
	page.W = page.Around(p.right - p.left + 2*page.Pad())
	shift := (page.W-(p.right-p.left))/2 - p.left
	for i := range p.x {
		p.x[i] += shift
	}
	p.left, p.right = p.left+shift, p.right+shift
	p.top = page.Head() + 8
	p.y = p.top + partyHigh + 10
	for _, s := range d.steps {
		p.step(s)
	}
	for i := range p.active {
		for len(p.active[i]) > 0 {
			p.deactivate(i)
		}
	}
	p.y += 16
	page.H = p.y + partyHigh + 8 + page.Foot()
	var out svg.Canvas
	page.Begin(&out, svg.CSS()+svg.ShapeCSS())
	page.Frame(&out)
	for i := range p.parties {
		out.Line(p.x[i], p.top+partyHigh, p.x[i], p.y, "a")
	}
	_, _ = out.Write(p.back.Bytes())  // a buffer does not fail
	_, _ = out.Write(p.seams.Bytes()) // likewise
	_, _ = out.Write(p.s.Bytes())     // likewise
	for i := range p.parties {
		p.heading(&out, i, p.top)
		p.heading(&out, i, p.y)
	}
	return page.End(&out), nil
}

// columns computes the distances that headings, messages and notes need.
func (p *seqPen) columns(room float64) {
	n := len(p.parties)
	p.x, p.half, p.lines = make([]float64, n), make([]float64, n), make([][]string, n)
	for i, q := range p.parties {
		p.lines[i] = svg.Wrap(q.label, 13*svg.Bold, 150, 2)
		p.half[i] = max(34, svg.Widest(p.lines[i], 13*svg.Bold)/2+14)
	}
	gaps := make([]float64, n+1) // before the first column, between columns, after the last
	gaps[0], gaps[n] = p.half[0], p.half[n-1]
	for i := 1; i < n; i++ {
		gaps[i] = p.half[i-1] + p.half[i] + 24
	}
	for _, s := range p.steps {
		need := min(220, svg.Width(s.text, textSize)+44)
		a, b := min(s.from, s.to), max(s.from, s.to)
		switch {
		case s.kind == stepRight || s.kind == stepMessage && a == b:
			gaps[a+1] = max(gaps[a+1], need+30)
		case s.kind == stepLeft:
			gaps[a] = max(gaps[a], need+30)
		case s.kind == stepMessage && b == a+1:
			gaps[b] = max(gaps[b], need)
		}
	}
	for i := 1; i < n; i++ {
		p.x[i] = p.x[i-1] + gaps[i]
	}
	// A few columns are spread over the page, by at most 60 pixels each.
	if total := p.x[n-1] + gaps[0] + gaps[n] + 40; n > 1 && total < room {
		more := min(60, (room-total)/float64(n-1))
		for i := range p.x {
			p.x[i] += more * float64(i)
		}
	}
	p.left, p.right = p.x[0]-gaps[0]-20, p.x[n-1]+gaps[n]+20
	wider := max(0, minNote-(p.right-p.left)) / 2
	p.left, p.right = p.left-wider, p.right+wider
}

func (p *seqPen) heading(s *svg.Canvas, i int, y float64) {
	radius, class := 6.0, svg.NodeClass(0)
	if p.parties[i].actor {
		radius, class = partyHigh/2, svg.NodeClass(1)
	}
	s.Rect(svg.Box{X: p.x[i] - p.half[i], Y: y, W: 2 * p.half[i], H: partyHigh}, class, radius)
	first := y + partyHigh/2 + 4.5 - float64(len(p.lines[i])-1)*8
	s.Lines(p.x[i], first, 16, "d i", "middle", p.lines[i])
}

func (p *seqPen) step(s step) {
	switch s.kind {
	case stepMessage:
		p.message(s)
	case stepNote, stepLeft, stepRight:
		p.note(s)
	case stepOpen:
		p.y += 10
		p.blocks = append(p.blocks, p.y)
		p.caption(s.word, s.text, true)
	case stepElse:
		p.y += 8
		l, r := p.sides(len(p.blocks))
		p.seams.Tag(`<path d="M%s %sH%s" class="r x"/>`, svg.Px(l), svg.Px(p.y), svg.Px(r))
		p.caption("", s.text, false)
	case stepClose:
		l, r := p.sides(len(p.blocks))
		top := p.blocks[len(p.blocks)-1]
		p.blocks = p.blocks[:len(p.blocks)-1]
		p.y += 10
		p.seams.Rect(svg.Box{X: l, Y: top, W: r - l, H: p.y - top}, "r", 4)
		p.y += 6
	case stepActivate:
		p.active[s.from] = append(p.active[s.from], p.y)
	case stepDeactivate:
		p.deactivate(s.from)
	}
}

// sides returns the borders of the block at a depth.
func (p *seqPen) sides(depth int) (l, r float64) {
	in := min(blockInset*float64(depth-1), 60)
	return p.left + in, p.right - in
}

// caption writes the name of a block or of a branch of it.
func (p *seqPen) caption(word, text string, open bool) {
	l, r := p.sides(len(p.blocks))
	x := l + 10
	if open {
		w := svg.Width(word, 12) + 16
		p.s.Tag(`<path d="M%s %sh%sv12l-7 7h-%sZ" class="%s"/>`, svg.Px(l), svg.Px(p.y), svg.Px(w), svg.Px(w-7), svg.NodeClass(6))
		p.s.Text(l+8, p.y+13.5, "v i", "start", word)
		x = l + w + 10
	}
	if text != "" {
		p.s.Text(x, p.y+14, "k m y", "start", svg.Fit("["+text+"]", textSize, r-x-8))
	}
	p.y += 26
}

func (p *seqPen) deactivate(i int) {
	n := len(p.active[i])
	if n == 0 {
		return // an end without a beginning is ignored
	}
	from := p.active[i][n-1]
	p.active[i] = p.active[i][:n-1]
	p.back.Rect(svg.Box{X: p.x[i] - 5 + 4*float64(n-1), Y: from, W: 10, H: max(8, p.y-from)}, svg.NodeClass(7), 2)
}

func (p *seqPen) message(s step) {
	text := s.number + s.text
	a, b := p.x[s.from], p.x[s.to]
	class := "e"
	if s.dashed {
		class += " x"
	}
	if s.from == s.to {
		lines := svg.Wrap(text, textSize, 200, 3)
		p.y += 14
		p.s.Lines(a+40, p.y+10, textStep, "k i y", "start", lines)
		p.s.Tag(`<path d="M%s %sh28v20h-%s" class="%s"/>`, svg.Px(a+6), svg.Px(p.y), svg.Px(22), class)
		graph.DrawHead(&p.s, s.head, svg.Point{X: a + 6, Y: p.y + 20}, svg.Point{X: -1})
		p.y += max(26, textStep*float64(len(lines))+6)
		return
	}
	lines := svg.Wrap(text, textSize, max(60, math.Abs(b-a)-24), 4)
	p.y += 8
	p.s.Lines((a+b)/2, p.y+11, textStep, "k i y", "middle", lines)
	p.y += textStep*float64(len(lines)) + 5
	dir := math.Copysign(1, b-a)
	tip, end := b-dir*5, b-dir*5
	if s.head == graph.Arrow {
		end -= dir * 8
	}
	start := a + dir*5
	if s.both {
		graph.DrawHead(&p.s, graph.Arrow, svg.Point{X: start, Y: p.y}, svg.Point{X: -dir})
		start += dir * 8
	}
	p.s.Tag(`<path d="M%s %sH%s" class="%s"/>`, svg.Px(start), svg.Px(p.y), svg.Px(end), class)
	graph.DrawHead(&p.s, s.head, svg.Point{X: tip, Y: p.y}, svg.Point{X: dir})
	p.y += 8
}

func (p *seqPen) note(s step) {
	w, room := 0.0, 190.0
	if s.kind == stepNote {
		w = p.x[s.to] - p.x[s.from] + 40
		room = max(minNote-20, w-20)
	}
	lines := svg.Wrap(s.text, textSize, room, 8)
	w = max(w, svg.Widest(lines, textSize)+20)
	x := (p.x[s.from] + p.x[s.to]) / 2
	switch s.kind {
	case stepLeft:
		x -= w/2 + 10
	case stepRight:
		x += w/2 + 10
	default:
		x = max(p.left+w/2, min(x, p.right-w/2))
	}
	p.y += 8
	b := svg.Box{X: x - w/2, Y: p.y, W: w, H: textStep*float64(len(lines)) + 12}
	p.s.Rect(b, svg.NodeClass(4), 3)
	p.s.Lines(x, p.y+17, textStep, "k i", "middle", lines)
	p.y = b.Bottom() + 6
}
