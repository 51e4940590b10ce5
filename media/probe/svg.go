package probe

import (
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"

	"atelier/media"
)

// svgHead is the number of bytes in which the root element is searched for. Drawing programs write
// long prologs and comments.
const svgHead = 64 << 10

// firstElement returns the local name and attributes of the root element, or "!doctype html". It
// reads raw tokens and expands nothing.
func firstElement(s *source) (string, []xml.Attr) {
	d := xml.NewDecoder(&sectionReader{s: s, limit: svgHead})
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		tok, err := d.RawToken()
		if err != nil {
			return "", nil
		}
		switch t := tok.(type) {
		case xml.StartElement:
			return t.Name.Local, t.Attr
		case xml.Directive:
			word := strings.ToLower(strings.Join(strings.Fields(string(t[:min(len(t), 64)])), " "))
			if strings.HasPrefix(word, "doctype html") {
				return "!doctype html", nil
			}
		case xml.CharData:
			if strings.Trim(string(t), "\ufeff \t\r\n") != "" {
				return "", nil
			}
		}
	}
}

// readSVG reads the size in CSS pixels from width and height. A missing or relative one is computed from the viewBox.
func readSVG(s *source, f *media.Facts) {
	_, attrs := firstElement(s)
	var width, height, boxW, boxH float64
	for _, a := range attrs {
		switch a.Name.Local {
		case "width":
			width = cssPixels(a.Value)
		case "height":
			height = cssPixels(a.Value)
		case "viewBox":
			boxW, boxH = viewBox(a.Value)
		}
	}
	switch {
	case boxW <= 0 || boxH <= 0:
	case width <= 0 && height <= 0:
		width, height = boxW, boxH
	case width <= 0:
		width = height * boxW / boxH
	case height <= 0:
		height = width * boxH / boxW
	}
	f.Width, f.Height = pixels(width), pixels(height)
}

// pixels rounds a length; a positive length becomes at least 1.
func pixels(v float64) int {
	if v <= 0 || v > math.MaxInt32 || math.IsNaN(v) {
		return 0
	}
	return max(1, int(math.Round(v)))
}

// cssPixels parses an absolute length (CSS Values 3, §6.2). It returns 0 for relative lengths.
func cssPixels(s string) float64 {
	s = strings.ToLower(strings.TrimSpace(s))
	num := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	v, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
	if err != nil {
		return 0
	}
	return v * map[string]float64{
		"": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "pt": 96.0 / 72, "pc": 16,
	}[strings.TrimSpace(s[len(num):])]
}

// viewBox returns the last two of the four numbers of a viewBox.
func viewBox(s string) (width, height float64) {
	n := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' || r == '\r' })
	if len(n) != 4 {
		return 0, 0
	}
	w, err := strconv.ParseFloat(n[2], 64)
	h, other := strconv.ParseFloat(n[3], 64)
	if err != nil || other != nil {
		return 0, 0
	}
	return w, h
}
