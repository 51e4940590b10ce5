package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// layout writes the text of a page as lines and paragraphs.
type layout struct {
	*document
	page references.FPDF_TEXTPAGE
	// flat is true for a page with form fields or notes. PDFium compares their positions with those of other text
	// wrongly, so that the positions of words decide on their line breaks.
	flat bool
	out  strings.Builder

	bottom, height float64 // of the first character of the line
}

// write writes what PDFium reads from a page. There, lines end with "\r\n", a hyphen at the end of a line is U+FFFE
// without a line end, and characters without a letter may be control characters.
func (l *layout) write(text string) {
	at, spaces, ended := 0, 0, true // at counts UTF-16 codes, as PDFium does
	for _, c := range text {
		switch {
		case c == '\r':
			ended = true
		case c == '\ufffe':
			l.out.WriteByte('-')
			ended = true
		case unicode.IsControl(c) || c == '\u00ad': // a soft hyphen is not a letter
		case unicode.IsSpace(c):
			spaces++
		default:
			if ended || l.flat && spaces > 0 {
				l.begin(at, unicode.IsLetter(c))
			} else {
				l.out.WriteString(strings.Repeat(" ", spaces))
			}
			l.out.WriteRune(c)
			spaces, ended = 0, false
		}
		at += max(1, utf16.RuneLen(c))
	}
}

// begin separates the character at an index of the text from what was written before.
func (l *layout) begin(at int, letter bool) {
	bottom, height := l.place(at, letter)
	distance, tall := math.Abs(bottom-l.bottom), math.Max(height, l.height)
	switch {
	case l.out.Len() == 0:
	case distance > 1.6*tall:
		l.out.WriteString("\n\n")
	case l.flat && distance < 0.5*tall:
		l.out.WriteByte(' ')
	default:
		l.out.WriteByte('\n')
	}
	l.bottom, l.height = bottom, height
	l.lines++
}

// place returns the position of a character, or zeros if PDFium does not know it, and counts a letter that its font does
// not map. Symbols such as bullets do not count: they are often without a mapping in correct text.
func (l *layout) place(at int, letter bool) (bottom, height float64) {
	index, err := l.instance.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: l.page, NTextIndex: at})
	if err != nil {
		return 0, 0
	}
	if letter {
		wrong, err := l.instance.FPDFText_HasUnicodeMapError(&requests.FPDFText_HasUnicodeMapError{TextPage: l.page, Index: index.CharIndex})
		if err == nil && wrong.HasUnicodeMapError {
			l.unmapped++
		}
	}
	box, err := l.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: l.page, Index: index.CharIndex})
	if err != nil {
		return 0, 0
	}
	return float64(box.Rect.Bottom), float64(box.Rect.Top - box.Rect.Bottom)
}
