package pdf

import (
	"reflect"
	"strings"
	"unicode/utf16"
)

// glyph is one shown code.
type glyph struct {
	text  string  // its characters; "" if unknown
	width float64 // in thousandths of the font size
	space bool    // word spacing applies: the single byte 32
	known bool
}

// font converts the bytes of shown strings to glyphs.
type font struct {
	wide    bool // two-byte codes
	unicode bool // codes are UTF-16
	toText  map[uint32]string
	simple  *[256]string
	widths  map[uint32]float64
	missing float64
	scale   float64 // of widths, for fonts drawn by procedures
	from    dict    // kept, so that nothing else gets its address, which is the key of the font
}

// font returns a font, which it reads once.
func (d *Document) font(v any) *font {
	f := d.dict(v)
	if f == nil {
		return nil
	}
	at := reflect.ValueOf(f).Pointer()
	out, ok := d.fonts[at]
	if !ok {
		out = d.readFont(f)
		d.fonts[at] = out
		d.left -= len(out.widths) + len(out.toText)
	}
	return out
}

// readFont reads a font's maps and widths.
func (d *Document) readFont(f dict) *font {
	out := &font{from: f, widths: map[uint32]float64{}, missing: 500, scale: 1}
	if s, ok := d.resolve(f["ToUnicode"]).(stream); ok {
		if b, err := d.decode(s); err == nil {
			out.toText = parseCMap(b)
		}
	}
	if f["Subtype"] == name("Type0") {
		d.composite(out, f)
		return out
	}
	out.simple = d.simpleEncoding(f)
	begin := d.whole(f["FirstChar"], 0)
	list, _ := d.resolve(f["Widths"]).(array)
	for i, w := range list[:min(len(list), 256)] {
		if v, ok := d.resolve(w).(float64); ok {
			out.widths[uint32(begin+i)&0xff] = v //nolint:gosec // masked
		}
	}
	out.missing = float64(d.whole(d.dict(f["FontDescriptor"])["MissingWidth"], 500))
	if m, ok := d.resolve(f["FontMatrix"]).(array); ok && len(m) == 6 && f["Subtype"] == name("Type3") {
		if a, ok := d.resolve(m[0]).(float64); ok {
			out.scale = a * 1000
		}
	}
	return out
}

// composite reads a font with multi-byte codes.
func (d *Document) composite(out *font, f dict) {
	out.wide, out.missing = true, 1000
	if enc, ok := d.resolve(f["Encoding"]).(name); ok {
		out.unicode = strings.Contains(string(enc), "UCS2") || strings.Contains(string(enc), "UTF16")
	}
	kids, _ := d.resolve(f["DescendantFonts"]).(array)
	if len(kids) == 0 {
		return
	}
	kid := d.dict(kids[0])
	out.missing = float64(d.whole(kid["DW"], 1000))
	list, _ := d.resolve(kid["W"]).(array)
	for i := 0; i+1 < len(list) && len(out.widths) < maxEntries; {
		from := d.whole(list[i], 0)
		if each, ok := d.resolve(list[i+1]).(array); ok {
			for k, w := range each {
				out.widths[uint32(from+k)] = float64(d.whole(w, 1000)) //nolint:gosec // any value is a valid key
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		to, w := d.whole(list[i+1], 0), float64(d.whole(list[i+2], 1000))
		for c := from; c <= to && c < from+65536 && len(out.widths) < maxEntries; c++ {
			out.widths[uint32(c)] = w //nolint:gosec // any value is a valid key
		}
		i += 3
	}
}

// glyphs calls fn with each code of a shown string.
func (f *font) glyphs(s text, fn func(glyph)) {
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(s); i += step {
		code := uint32(s[i])
		if f.wide {
			code = code<<8 | uint32(s[i+1])
		}
		if high := rune(code & 0xffff); f.unicode && utf16.IsSurrogate(high) && i+4 <= len(s) {
			r := utf16.DecodeRune(high, rune(s[i+2])<<8|rune(s[i+3]))
			fn(glyph{text: string(r), width: f.missing, known: true})
			i += 2
			continue
		}
		fn(f.glyph(code))
	}
}

func (f *font) glyph(code uint32) glyph {
	g := glyph{width: f.missing, space: !f.wide && code == ' '}
	if w, ok := f.widths[code]; ok {
		g.width = w
	}
	g.width *= f.scale
	if t, ok := f.toText[code]; ok {
		g.text, g.known = t, true
		return g
	}
	switch {
	case f.unicode:
		g.text = string(rune(code & 0xffff))
	case f.simple != nil:
		g.text = f.simple[code&0xff]
	}
	g.known = g.text != ""
	return g
}

// parseCMap reads the Unicode characters of codes from a ToUnicode stream.
func parseCMap(b []byte) map[uint32]string {
	out := map[uint32]string{}
	l := lexer{data: b, left: maxValues, content: true}
	var stack []any
	for !l.end() && len(out) < maxEntries {
		v := l.next()
		k, ok := v.(keyword)
		if !ok {
			stack = append(stack, v)
			continue
		}
		switch k {
		case "endbfchar":
			for i := 0; i+1 < len(stack); i += 2 {
				if from, ok := stack[i].(text); ok {
					out[codeOf(from)] = utf16Text(stack[i+1])
				}
			}
		case "endbfrange":
			for i := 0; i+2 < len(stack); i += 3 {
				addRange(out, stack[i:i+3])
			}
		}
		stack = stack[:0]
	}
	return out
}

// addRange maps <from> <to> <first> or <from> <to> [each].
func addRange(out map[uint32]string, v []any) {
	from, ok1 := v[0].(text)
	to, ok2 := v[1].(text)
	if !ok1 || !ok2 {
		return
	}
	a, b := codeOf(from), codeOf(to)
	if each, ok := v[2].(array); ok {
		for i, t := range each {
			if c := a + uint32(i); c <= b {
				out[c] = utf16Text(t)
			}
		}
		return
	}
	dst := []rune(utf16Text(v[2]))
	if len(dst) == 0 {
		return
	}
	last := dst[len(dst)-1]
	for c := a; c <= b && c-a < 65536 && len(out) < maxEntries; c++ {
		dst[len(dst)-1] = last + rune(c-a) //nolint:gosec // less than 65,536
		out[c] = string(dst)
	}
}

func codeOf(t text) uint32 {
	var n uint32
	for _, c := range t[:min(len(t), 4)] {
		n = n<<8 | uint32(c)
	}
	return n
}

// utf16Text decodes big-endian UTF-16.
func utf16Text(v any) string {
	t, ok := v.(text)
	if !ok {
		return ""
	}
	if len(t) == 1 {
		return string(rune(t[0]))
	}
	units := make([]uint16, 0, len(t)/2)
	for i := 0; i+1 < len(t); i += 2 {
		units = append(units, uint16(t[i])<<8|uint16(t[i+1]))
	}
	return string(utf16.Decode(units))
}
