package svg

import (
	"cmp"
	"math"
	"strings"

	"atelier/draw/internal/value"
	"atelier/media"
)

// Bold is the width of bold type relative to regular type.
const Bold = 1.1

// Page is the frame of a drawing. W and H are in pixels.
type Page struct {
	Title, Subtitle, Source string
	// Alt is the text for people who cannot see the drawing.
	Alt string
	// Warnings list what was omitted.
	Warnings []string
	// Language is the language of the page's own words and numbers: en or de.
	Language string
	W, H     float64
	// FixedWidth means that the caller requested the width, so that it is kept.
	FixedWidth bool
}

// Drawing is a finished file and its description.
type Drawing struct {
	// Kind is the kind of drawing, for people: network, bar chart.
	Kind  string
	Title string
	// Data is the file.
	Data []byte
	// Alt is the text for people who cannot see it.
	Alt string
	// Facts are counts and names of what was drawn, by the names that models know: NodeCount.
	Facts map[string]any
	// Warnings list what was omitted.
	Warnings []string
	// Adaptive means that the file contains a second layout for narrow pages.
	Adaptive bool
}

// Drawing returns the finished file with the title, the alternative text and the warnings of the page.
func (p Page) Drawing(kind string, data []byte, facts map[string]any) Drawing {
	return Drawing{Kind: kind, Title: p.Title, Data: data, Alt: p.Alt, Facts: facts, Warnings: p.Warnings}
}

// Omit adds a note on what the drawing does not show to the warnings and to the alternative text.
func (p *Page) Omit(note string) { p.Warnings, p.Alt = append(p.Warnings, note), p.Alt+" "+note }

// MIME is the MIME type of every page.
const MIME = "image/svg+xml"

// German is the language that drawings support besides English.
const German = "de"

// ReadPage checks the parameters that all drawings share. w and h are the default size.
func ReadPage(p map[string]any, w, h float64) (Page, error) {
	out := Page{Title: value.Text(p["Title"]), Subtitle: value.Text(p["Subtitle"]), Source: value.Text(p["Source"]), Alt: value.Text(p["AltText"]), Language: "en", W: w, H: h}
	if tag := strings.ToLower(value.Text(p["Language"])); tag == German || strings.HasPrefix(tag, German+"-") {
		out.Language = German
	}
	if out.Title == "" {
		return out, Invalid("Title is missing: say in one line what it shows")
	}
	for _, side := range []struct {
		name   string
		to     *float64
		lo, hi float64
	}{{"Width", &out.W, 240, 4000}, {"Height", &out.H, 160, 4000}} {
		if p[side.name] == nil {
			continue
		}
		v, ok := value.Number(p[side.name])
		if !ok || !(v >= side.lo && v <= side.hi) {
			return out, Invalid("%s is %v: give pixels from %g to %g", side.name, Clip(value.Text(p[side.name])), side.lo, side.hi)
		}
		*side.to = math.Round(v)
		out.FixedWidth = out.FixedWidth || side.to == &out.W
	}
	return out, nil
}

// minPageWidth is the minimum width of a page whose width was not requested: a narrower page would make
// small drawings look coarse where pages are stretched to a column.
const minPageWidth = 640

// Around returns the width of a page whose drawing needs w pixels with its margins: at least the requested width, if
// any, otherwise what the drawing needs, so that a narrow drawing keeps its size on a narrow screen.
func (p Page) Around(w float64) float64 {
	if p.FixedWidth {
		return max(p.W, math.Ceil(w))
	}
	return max(min(p.W, minPageWidth), math.Ceil(w))
}

// Invalid returns the error of a bad parameter.
func Invalid(format string, args ...any) error {
	return media.Errorf(media.CodeInvalid, format, args...)
}

// Pad returns the margin in pixels.
func (p Page) Pad() float64 { return math.Round(min(28, max(10, p.W*0.028))) }

// Head returns the height of margin, title and subtitle below the upper edge, in pixels.
func (p Page) Head() float64 {
	return p.Pad() + 25*float64(len(p.titleLines())) + 9 + 19*float64(len(p.subtitleLines()))
}

// Foot returns the height of source and margin above the lower edge, in pixels.
func (p Page) Foot() float64 {
	if p.Source != "" {
		return p.Pad() + 20
	}
	return p.Pad()
}

func (p Page) titleLines() []string { return Wrap(p.Title, 20*Bold, p.W-2*p.Pad(), 2) }

func (p Page) subtitleLines() []string { return Wrap(p.Subtitle, 14, p.W-2*p.Pad(), 2) }

// Begin writes the start of the file: title and description for screen readers, style, background.
// It has no ids, so that many drawings can be in one document.
func (p Page) Begin(s *Canvas, css string) {
	s.Tag(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">`, Px(p.W), Px(p.H), Px(p.W), Px(p.H), Escape(p.Title))
	s.Tag(`<title>%s</title><desc>%s</desc><style>%s</style>`, Escape(p.Title), Escape(p.Alt), css)
	s.Rect(Box{0, 0, p.W, p.H}, "b", 8)
}

// Frame writes title, subtitle and source, and returns the room between them.
func (p Page) Frame(s *Canvas) Box {
	pad := p.Pad()
	title := p.titleLines()
	s.Block(pad, p.W-2*pad, pad+18, 25, "t i", title)
	s.Block(pad, p.W-2*pad, pad+25*float64(len(title))+13, 19, "u m", p.subtitleLines())
	if p.Source != "" {
		s.Text(pad, p.H-pad-1, "c m", "start", Fit(p.SourceLine(), 11, p.W-2*pad))
	}
	y := p.Head()
	return Box{pad, y, p.W - 2*pad, max(40, p.H-p.Foot()-y)}
}

// SourceLine returns the source with its heading.
func (p Page) SourceLine() string {
	source := p.Source
	for _, heading := range []string{"Source:", "Quelle:"} { // headings that the source already has
		if len(source) > len(heading) && strings.EqualFold(source[:len(heading)], heading) {
			source = source[len(heading):]
		}
	}
	if p.Language == German {
		return "Quelle: " + strings.TrimLeft(source, " ")
	}
	return "Source: " + strings.TrimLeft(source, " ")
}

// End closes the file.
func (p Page) End(s *Canvas) []byte {
	s.Tag("</svg>\n")
	return s.Bytes()
}

// Clip shortens a text to at most 200 characters.
func Clip(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}

// FileName returns a plain file name for a title.
func FileName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return cmp.Or(strings.TrimRight(name[:min(48, len(name))], "-"), "drawing") + ".svg"
}
