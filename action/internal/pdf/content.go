package pdf

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"atelier/media"
)

func composed(s string) string { return norm.NFC.String(s) }

// matrix is a b c d e f of PDF.
type matrix [6]float64

func identity() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// times gives m applied before n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the part of the graphics state that text needs.
type state struct {
	ctm                     matrix
	font                    *font
	size, char, word, scale float64
	leading, rise           float64
}

// reader goes through the operators of one page.
type reader struct {
	d     *Document
	ctx   context.Context //nolint:containedctx // lives as long as one call of Text
	out   strings.Builder
	state state
	saved []state
	tm    matrix // of the text
	line  matrix // of the line

	began  bool
	x, y   float64 // where the last glyph ended
	height float64 // of the last glyph
}

// Text gives the text of page n, from 0, in the order in which it is drawn.
func (d *Document) Text(ctx context.Context, n int) (string, error) {
	p := d.pages[n]
	r := &reader{d: d, ctx: ctx, state: state{ctm: identity(), scale: 1}, tm: identity(), line: identity()}
	content, err := d.content(p.dict["Contents"])
	if err != nil {
		return "", err
	}
	if err := r.run(content, p.resources, 0); err != nil {
		return "", err
	}
	return logical(strings.TrimSpace(r.out.String())), nil
}

// logical turns runs of right-to-left letters, which are drawn from left to right,
// into the order in which they are read.
func logical(s string) string {
	if !strings.ContainsFunc(s, isRightToLeft) {
		return s
	}
	out := []rune(s)
	for i := 0; i < len(out); i++ {
		if !isRightToLeft(out[i]) {
			continue
		}
		end := i + 1
		for k := end; k < len(out) && (isRightToLeft(out[k]) || out[k] == ' ' || unicode.Is(unicode.Mn, out[k])); k++ {
			if out[k] != ' ' {
				end = k + 1
			}
		}
		slices.Reverse(out[i:end])
		i = end
	}
	return string(out)
}

func isRightToLeft(r rune) bool { return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac) }

// content joins the streams of a page.
func (d *Document) content(v any) ([]byte, error) {
	switch c := d.resolve(v).(type) {
	case stream:
		b, err := d.decode(c)
		if b == nil && len(c.raw) > 0 {
			d.damaged++
		}
		return b, err
	case array:
		var out []byte
		for _, part := range c {
			s, ok := d.resolve(part).(stream)
			if !ok {
				continue
			}
			b, err := d.decode(s)
			if err != nil {
				return nil, err
			}
			if b == nil && len(s.raw) > 0 {
				d.damaged++
			}
			out = append(append(out, b...), '\n')
		}
		return out, nil
	}
	return nil, nil
}

// run executes content with its resources.
func (r *reader) run(content []byte, resources dict, depth int) error {
	l := lexer{data: content, content: true}
	var args []any
	for !l.end() {
		v := l.next()
		op, ok := v.(keyword)
		if !ok {
			if len(args) < 64 {
				args = append(args, v)
			}
			continue
		}
		r.d.operators++
		if r.d.operators > maxOperators {
			return media.Errorf(media.CodeTooLarge, "the PDF draws with more than %d operators: it is not read", maxOperators)
		}
		if r.d.operators%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		switch op {
		case "BI":
			skipImage(&l)
		case "Do":
			if err := r.form(args, resources, depth); err != nil {
				return err
			}
		default:
			r.operator(op, args, resources)
		}
		args = args[:0]
	}
	return nil
}

// skipImage passes over a picture inside the content.
func skipImage(l *lexer) {
	for !l.end() {
		if l.next() == keyword("ID") {
			break
		}
	}
	for l.pos < len(l.data) {
		n := bytes.Index(l.data[l.pos:], []byte("EI"))
		if n < 0 {
			l.pos = len(l.data)
			return
		}
		at := l.pos + n
		l.pos = at + 2
		if at > 0 && isSpace(l.data[at-1]) && (l.pos == len(l.data) || isSpace(l.data[l.pos])) {
			return
		}
	}
}

// form draws a form object where it is placed.
func (r *reader) form(args []any, resources dict, depth int) error {
	n, ok := at[name](args, 0)
	if !ok || depth > 8 {
		return nil
	}
	s, ok := r.d.resolve(r.d.dict(resources["XObject"])[n]).(stream)
	if !ok || s.dict["Subtype"] != name("Form") {
		return nil
	}
	content, err := r.d.decode(s)
	if err != nil {
		return err
	}
	own := r.d.dict(s.dict["Resources"])
	if own == nil {
		own = resources
	}
	before, saved := r.state, r.saved
	if m, ok := r.d.matrix(s.dict["Matrix"]); ok {
		r.state.ctm = m.times(r.state.ctm)
	}
	r.saved = nil
	err = r.run(content, own, depth+1)
	r.state, r.saved = before, saved
	return err
}

func (d *Document) matrix(v any) (matrix, bool) {
	a, ok := d.resolve(v).(array)
	if !ok || len(a) != 6 {
		return matrix{}, false
	}
	var m matrix
	for i := range m {
		m[i], ok = d.resolve(a[i]).(float64)
		if !ok {
			return m, false
		}
	}
	return m, true
}

// at gives an argument of a type.
func at[T any](args []any, i int) (T, bool) {
	var zero T
	if i >= len(args) {
		return zero, false
	}
	v, ok := args[i].(T)
	return v, ok
}

func num(args []any, i int) float64 {
	f, _ := at[float64](args, i)
	return f
}

// operator does what matters for text.
func (r *reader) operator(op keyword, args []any, resources dict) {
	s := &r.state
	switch op {
	case "q":
		if len(r.saved) < 256 {
			r.saved = append(r.saved, *s)
		}
	case "Q":
		if n := len(r.saved); n > 0 {
			*s, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	case "cm":
		s.ctm = matrixOf(args).times(s.ctm)
	case "BT":
		r.tm, r.line = identity(), identity()
	case "Tf":
		s.size = num(args, 1)
		if n, ok := at[name](args, 0); ok {
			s.font = r.d.fontOf(r.d.dict(resources["Font"])[n])
		}
	case "Tc":
		s.char = num(args, 0)
	case "Tw":
		s.word = num(args, 0)
	case "Tz":
		s.scale = num(args, 0) / 100
	case "TL":
		s.leading = num(args, 0)
	case "Ts":
		s.rise = num(args, 0)
	default:
		r.textOperator(op, args)
	}
}

// textOperator moves and shows.
func (r *reader) textOperator(op keyword, args []any) {
	s := &r.state
	switch op {
	case "Tm":
		r.tm = matrixOf(args)
		r.line = r.tm
	case "Td":
		r.move(num(args, 0), num(args, 1))
	case "TD":
		s.leading = -num(args, 1)
		r.move(num(args, 0), num(args, 1))
	case "T*":
		r.move(0, -s.leading)
	case "Tj":
		t, _ := at[text](args, 0)
		r.show(t)
	case "'":
		t, _ := at[text](args, 0)
		r.move(0, -s.leading)
		r.show(t)
	case "\"":
		t, _ := at[text](args, 2)
		s.word, s.char = num(args, 0), num(args, 1)
		r.move(0, -s.leading)
		r.show(t)
	case "TJ":
		list, _ := at[array](args, 0)
		for _, v := range list {
			switch v := v.(type) {
			case text:
				r.show(v)
			case float64:
				r.advance(-v / 1000 * s.size * s.scale)
			}
		}
	}
}

func matrixOf(args []any) matrix {
	if len(args) != 6 {
		return identity()
	}
	var m matrix
	for i := range m {
		m[i] = num(args, i)
	}
	return m
}

func (r *reader) move(x, y float64) {
	r.line = matrix{1, 0, 0, 1, x, y}.times(r.line)
	r.tm = r.line
}

func (r *reader) advance(x float64) { r.tm = matrix{1, 0, 0, 1, x, 0}.times(r.tm) }

// fontOf finds a font, read once.
func (d *Document) fontOf(v any) *font {
	r, shared := v.(ref)
	if shared && d.fonts[r] != nil {
		return d.fonts[r]
	}
	f := d.dict(v)
	if f == nil {
		return nil
	}
	out := d.newFont(f)
	if shared {
		d.fonts[r] = out
	}
	return out
}

// show writes a string where the text stands.
func (r *reader) show(t text) {
	s := &r.state
	if s.font == nil || len(t) == 0 {
		return
	}
	s.font.glyphs(t, func(g glyph) {
		m := matrix{s.size * s.scale, 0, 0, s.size, 0, s.rise}.times(r.tm).times(s.ctm)
		if !g.known {
			r.d.unknown++
		}
		r.place(m, g)
		w := g.width/1000*s.size + s.char
		if g.space {
			w += s.word
		}
		r.advance(w * s.scale)
		end := matrix{1, 0, 0, 1, 0, s.rise}.times(r.tm).times(s.ctm)
		r.x, r.y = end[4], end[5]
	})
}

// place writes one glyph, with a space or a line break before it where it stands
// apart from the one before.
func (r *reader) place(m matrix, g glyph) {
	height := math.Hypot(m[2], m[3])
	length := math.Hypot(m[0], m[1])
	if g.text != "" && r.began && length > 0 && height > 0 {
		ux, uy := m[0]/length, m[1]/length // along the line
		dx, dy := m[4]-r.x, m[5]-r.y
		along, across := dx*ux+dy*uy, math.Abs(dy*ux-dx*uy)
		tall := math.Max(height, r.height)
		switch {
		case across > 1.9*tall:
			r.separate("\n\n")
		case across > 0.5*tall || along < -tall:
			r.separate("\n")
		case along > 0.16*height:
			r.separate(" ")
		}
	}
	for _, c := range g.text {
		r.write(c)
	}
	if g.text != "" {
		r.began, r.height = true, height
	}
}

// separate ends a word or line unless something does already.
func (r *reader) separate(with string) {
	s := r.out.String()
	if with == " " {
		if len(s) == 0 || s[len(s)-1] == ' ' || s[len(s)-1] == '\n' {
			return
		}
		r.out.WriteString(with)
		return
	}
	have := len(s) - len(strings.TrimRight(s, "\n"))
	if have < len(with) {
		r.out.WriteString(with[have:])
	}
}

func (r *reader) write(c rune) {
	switch {
	case c == '\u00ad': // a soft hyphen is no letter
	case c == '\u00a0':
		r.out.WriteByte(' ')
	case unicode.IsControl(c):
	case c >= 0xfb00 && c <= 0xfb06, c >= 0xfb50 && c <= 0xfdff, c >= 0xfe70 && c <= 0xfefc:
		r.out.WriteString(norm.NFKC.String(string(c))) // ligatures and shapes of letters
	default:
		r.out.WriteRune(c)
	}
}
