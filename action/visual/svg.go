package visual

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// svg collects the parts of a chart.
type svg struct{ bytes.Buffer }

// px writes a coordinate with at most one decimal, always the same way.
func px(v float64) string {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // no minus zero
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func (s *svg) tag(format string, args ...any) { fmt.Fprintf(&s.Buffer, format, args...) }

// text writes one line; anchor is start, middle or end.
func (s *svg) text(x, y float64, class, anchor, str string) {
	s.turned(x, y, 0, class, anchor, str)
}

func (s *svg) turned(x, y, angle float64, class, anchor, str string) { //nolint:revive // six small values, one place
	a, r := "", ""
	if anchor != "start" {
		a = ` text-anchor="` + anchor + `"`
	}
	if angle != 0 {
		r = fmt.Sprintf(` transform="rotate(%s %s %s)"`, px(angle), px(x), px(y))
	}
	s.tag(`<text x="%s" y="%s" class="%s"%s%s>%s</text>`, px(x), px(y), class, a, r, escaper.Replace(str))
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.tag(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, px(x1), px(y1), px(x2), px(y2), class)
}

func (s *svg) rect(b box, class string, radius float64) {
	r := ""
	if radius > 0 {
		r = ` rx="` + px(radius) + `"`
	}
	s.tag(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"%s/>`, px(b.x), px(b.y), px(b.w), px(b.h), class, r)
}

// box is a rectangle in pixels.
type box struct{ x, y, w, h float64 }

func (b box) right() float64  { return b.x + b.w }
func (b box) bottom() float64 { return b.y + b.h }
