package svg

import (
	"cmp"
	"math"
	"strings"

	"atelier/draw/internal/value"
	"atelier/media"
)

// Bold is how much wider heavy type runs.
const Bold = 1.1

// Page is what stands around a drawing. W and H are pixels.
type Page struct {
	Title, Subtitle, Source string
	// Alt is the text for people who cannot see the drawing.
	Alt string
	// Warnings name what was omitted.
	Warnings []string
	// Language is that of its own words and numbers: en or de.
	Language string
	W, H     float64
	// Wide says that the caller asked for the width, so that it stays.
	Wide bool
}

// Drawing is a finished file and what can be said about it.
type Drawing struct {
	// Kind is what it is, for people: network, bar chart.
	Kind  string
	Title string
	// Data is the file.
	Data []byte
	// Alt is the text for people who cannot see it.
	Alt string
	// Facts count and name what was drawn, by the names that models know: NodeCount.
	Facts map[string]any
	// Warnings name what was omitted.
	Warnings []string
	// Adaptive says that the file holds a second layout for narrow pages.
	Adaptive bool
}

// Drawing is the finished file with what the page says about it.
func (p Page) Drawing(kind string, data []byte, facts map[string]any) Drawing {
	return Drawing{Kind: kind, Title: p.Title, Data: data, Alt: p.Alt, Facts: facts, Warnings: p.Warnings}
}

// Omit says, as a warning and in the alternative text, what the drawing does not show.
func (p *Page) Omit(note string) { p.Warnings, p.Alt = append(p.Warnings, note), p.Alt+" "+note }

// MIME is the type of every page.
const MIME = "image/svg+xml"

// German is the language whose words and numbers a drawing can have instead of English ones.
const German = "de"

// ReadPage checks the parameters that every drawing has. W and H must hold the defaults.
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
		out.Wide = out.Wide || side.to == &out.W
	}
	return out, nil
}

// least is the width of the narrowest page that is not asked for: less would make small
// drawings look coarse where pages are stretched to a column.
const least = 640

// Around returns the width of a page whose drawing needs w pixels with its margins: at least the width that was
// requested; else what the drawing needs, so that a narrow drawing keeps its size on a narrow screen.
func (p Page) Around(w float64) float64 {
	if p.Wide {
		return max(p.W, math.Ceil(w))
	}
	return max(min(p.W, least), math.Ceil(w))
}

// Invalid makes the error of a bad parameter.
func Invalid(format string, args ...any) error {
	return media.Errorf(media.CodeInvalid, format, args...)
}

// Pad is the margin around everything.
func (p Page) Pad() float64 { return math.Round(min(28, max(10, p.W*0.028))) }

// Head is how many pixels title and subtitle take below the upper edge.
func (p Page) Head() float64 {
	return p.Pad() + 25*float64(len(p.titleLines())) + 9 + 19*float64(len(p.subtitleLines()))
}

// Foot is how many pixels source and margin take above the lower edge.
func (p Page) Foot() float64 {
	if p.Source != "" {
		return p.Pad() + 20
	}
	return p.Pad()
}

func (p Page) titleLines() []string { return Wrap(p.Title, 20*Bold, p.W-2*p.Pad(), 2) }

func (p Page) subtitleLines() []string { return Wrap(p.Subtitle, 14, p.W-2*p.Pad(), 2) }

// Begin opens the file: title and description for screen readers, style, background.
// It has no ids, so that many drawings can stand in one document.
func (p Page) Begin(s *Canvas, css string) {
	s.Tag(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">`, Px(p.W), Px(p.H), Px(p.W), Px(p.H), Escape(p.Title))
	s.Tag(`<title>%s</title><desc>%s</desc><style>%s</style>`, Escape(p.Title), Escape(p.Alt), css)
	s.Rect(Box{0, 0, p.W, p.H}, "b", 8)
}

// Frame writes title, subtitle and source, and gives the room between.
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

// SourceLine is the source with its heading.
func (p Page) SourceLine() string {
	source := p.Source
	for _, heading := range []string{"Source:", "Quelle:"} { // that the source brings along
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

// Clip keeps a text within what a media label holds.
func Clip(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}

// FileName makes a plain file name of a title.
func FileName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return cmp.Or(strings.TrimRight(name[:min(48, len(name))], "-"), "drawing") + ".svg"
}
