package pdf

import (
	"bytes"
	"context"
	"strings"
)

// state is the part of the graphics state that affects text.
type state struct {
	ctm                     matrix
	font                    *font
	size, char, word, scale float64
	leading, rise           float64
}

// reader executes the operators of one page.
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

// Text returns the text of page n, from 0, in the order in which it is drawn.
func (d *Document) Text(ctx context.Context, n int) (string, error) {
	p := d.pages[n]
	r := &reader{d: d, ctx: ctx, state: state{ctm: identity(), scale: 1}, tm: identity(), line: identity()}
	var content []byte
	for _, part := range d.list(p.dict["Contents"]) {
		s, _ := part.(stream)
		b, err := d.decode(s)
		if err != nil {
			return "", err
		}
		if b == nil && len(s.raw) > 0 {
			d.damaged++
		}
		if content = append(append(content, b...), '\n'); len(content) > maxStream {
			return "", tooLarge("has a page of more than %d MiB", maxStream>>20)
		}
	}
	err := r.run(content, p.resources, 0)
	for _, a := range d.list(p.dict["Annots"]) {
		if err == nil {
			err = r.annotation(d.dict(a), p.resources)
		}
	}
	if err != nil {
		return "", err
	}
	return logical(strings.TrimSpace(r.out.String())), nil
}

// run executes content with its resources.
func (r *reader) run(content []byte, resources dict, depth int) error {
	l := lexer{data: content, left: maxValues, content: true}
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
		args, l.left = args[:0], maxValues
		switch r.d.operators++; {
		case r.d.operators > maxOperators:
			return tooLarge("has more than %d drawing operators", maxOperators)
		case r.d.left <= 0:
			return tooLarge("has more than %d values", maxValues)
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		}
	}
	if l.left < 0 {
		return tooLarge("has an operator with more than %d values", maxValues)
	}
	return nil
}

// skipImage skips an image inside the content.
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

// form draws a form object at its position.
func (r *reader) form(args []any, resources dict, depth int) error {
	n, ok := at[name](args, 0)
	if !ok || depth > 8 {
		return nil
	}
	s, ok := r.d.resolve(r.d.dict(resources["XObject"])[n]).(stream)
	if !ok || s.dict["Subtype"] != name("Form") {
		return nil
	}
	return r.draw(s, resources, depth)
}

// annotation draws an annotation that has an appearance, such as the value of a field of a form.
func (r *reader) annotation(a, resources dict) error {
	v := r.d.resolve(r.d.dict(a["AP"])["N"])
	if states, ok := v.(dict); ok { // of a check box
		now, _ := r.d.resolve(a["AS"]).(name)
		v = r.d.resolve(states[now])
	}
	const hidden = 2
	s, ok := v.(stream)
	if !ok || r.d.whole(a["F"], 0)&hidden != 0 {
		return nil
	}
	rect, box := r.d.list(a["Rect"]), r.d.list(s.dict["BBox"])
	r.state = state{ctm: matrix{1, 0, 0, 1, num(rect, 0) - num(box, 0), num(rect, 1) - num(box, 1)}, scale: 1}
	return r.draw(s, resources, 0)
}

// draw executes the content of a form object.
func (r *reader) draw(s stream, resources dict, depth int) error {
	content, err := r.d.decode(s)
	if err != nil {
		return err
	}
	own := r.d.dict(s.dict["Resources"])
	if own == nil {
		own = resources
	}
	before, saved := r.state, r.saved
	r.state.ctm = matrixOf(r.d.list(s.dict["Matrix"])).times(r.state.ctm)
	r.saved = nil
	err = r.run(content, own, depth+1)
	r.state, r.saved = before, saved
	return err
}

// at returns argument i if it has type T.
func at[T any](args []any, i int) (v T, ok bool) {
	if i < len(args) {
		v, ok = args[i].(T)
	}
	return v, ok
}

func num(args []any, i int) float64 {
	f, _ := at[float64](args, i)
	return f
}

// operator executes an operator if it affects text.
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
			s.font = r.d.font(r.d.dict(resources["Font"])[n])
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

// textOperator executes an operator that moves or shows text.
func (r *reader) textOperator(op keyword, args []any) {
	s := &r.state
	switch op {
	case "Tm":
		r.tm = matrixOf(args)
		r.line = r.tm
	case "Td", "TD":
		if op == "TD" {
			s.leading = -num(args, 1)
		}
		r.move(num(args, 0), num(args, 1))
	case "T*":
		r.move(0, -s.leading)
	case "Tj", "'":
		if op == "'" {
			r.move(0, -s.leading)
		}
		t, _ := at[text](args, 0)
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

// matrix is a transformation matrix: a b c d e f.
type matrix [6]float64

func identity() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// times returns m applied before n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// matrixOf returns the matrix of six numbers, or the identity.
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
