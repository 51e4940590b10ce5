package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// logical converts runs of right-to-left letters, which are drawn from left to right, to reading order.
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

func (r *reader) move(x, y float64) {
	r.line = matrix{1, 0, 0, 1, x, y}.times(r.line)
	r.tm = r.line
}

func (r *reader) advance(x float64) { r.tm = matrix{1, 0, 0, 1, x, 0}.times(r.tm) }

// show writes a string at the current text position.
func (r *reader) show(t text) {
	s := &r.state
	if s.font == nil || len(t) == 0 {
		return
	}
	s.font.glyphs(t, func(g glyph) {
		if r.ctx.Err() != nil {
			return // one string can be the whole page
		}
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

// place writes one glyph. If the glyph is apart from the previous one, place writes a space or a line break first.
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
	if r.d.left -= len(g.text) / 4; r.d.left <= 0 {
		return
	}
	for _, c := range g.text {
		switch {
		case c == '\u00ad': // a soft hyphen is not a letter
		case c == '\u00a0':
			r.out.WriteByte(' ')
		case unicode.IsControl(c):
		case c >= 0xfb00 && c <= 0xfb06, c >= 0xfb50 && c <= 0xfdff, c >= 0xfe70 && c <= 0xfefc:
			r.out.WriteString(norm.NFKC.String(string(c))) // ligatures and presentation forms
		default:
			r.out.WriteRune(c)
		}
	}
	if g.text != "" {
		r.began, r.height = true, height
	}
}

// separate ends a word or line unless it has already ended.
func (r *reader) separate(with string) {
	s := r.out.String()
	if with == " " {
		if len(s) > 0 && s[len(s)-1] != ' ' && s[len(s)-1] != '\n' {
			r.out.WriteString(with)
		}
		return
	}
	have := len(s) - len(strings.TrimRight(s, "\n"))
	if have < len(with) {
		r.out.WriteString(with[have:])
	}
}
