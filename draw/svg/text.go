package svg

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// widths are the advance widths of printable ASCII in a common sans serif typeface, in hundredths
// of an em, from space to tilde.
var widths = [95]uint8{
	28, 28, 36, 56, 56, 89, 67, 19, 33, 33, 39, 58, 28, 33, 28, 28, 56, 56, 56, 56, 56, 56, 56, 56, 56, 56, 28, 28, 58, 58, 58, 56,
	102, 67, 67, 72, 72, 67, 61, 78, 72, 28, 50, 67, 56, 83, 72, 78, 67, 78, 72, 67, 61, 72, 67, 94, 67, 67, 61, 28, 28, 28, 47, 56,
	33, 56, 56, 50, 56, 56, 28, 56, 56, 22, 22, 50, 22, 83, 56, 56, 56, 56, 33, 50, 28, 56, 50, 72, 50, 50, 50, 33, 26, 33, 58,
}

// Width estimates the width of a text, on the safe side, because fonts differ.
func Width(s string, size float64) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			sum += float64(widths[r-' '])
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r): // drawn over the preceding letter, or not at all
			sum += 2 // so that stacked marks still have a width
		case r >= 0x00c0 && r <= 0x024f, r >= 0x1e00 && r <= 0x1eff: // Latin letters are as wide with marks as without
			sum += latin(r)
		case r >= 0x0590 && r < 0x0600: // Hebrew
			sum += 68
		case r >= 0x0600 && r < 0x0900: // Arabic and related scripts, whose final letters are wide
			sum += 82
		case r >= 0x1100: // wide scripts and symbols
			sum += 105
		default:
			sum += 62
		}
	}
	return sum / 100 * size * 1.16
}

// Widest returns the width of the widest line.
func Widest(lines []string, size float64) float64 {
	w := 0.0
	for _, l := range lines {
		w = max(w, Width(l, size))
	}
	return w
}

// latin returns the width of a Latin letter beyond ASCII.
func latin(r rune) float64 {
	var b [8]byte
	n := utf8.EncodeRune(b[:], r)
	if base, _ := utf8.DecodeRune(norm.NFD.Bytes(b[:n])); base >= ' ' && base <= '~' {
		return float64(widths[base-' '])
	}
	return 62
}

// RTL reports whether a text runs from right to left, which its first letter decides.
func RTL(s string) bool {
	for _, r := range s {
		switch {
		case r >= 0x0590 && r < 0x0900, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfefc, r >= 0x10800 && r < 0x11000, r >= 0x1e800 && r < 0x1f000:
			if !unicode.IsDigit(r) {
				return true
			}
		case unicode.IsLetter(r):
			return false
		}
	}
	return false
}

// Fit shortens a text to fit into room and adds an ellipsis.
func Fit(s string, size, room float64) string {
	if Width(s, size) <= room {
		return s
	}
	r := []rune(s)
	n := sort.Search(len(r), func(i int) bool { return Width(string(r[:i+1])+"…", size) > room })
	return strings.TrimRight(string(r[:n]), " ") + "…"
}

// Wrap breaks a text into at most n lines; the last one is shortened if necessary. Words wider than
// the room, and scripts without spaces, are broken anywhere.
func Wrap(s string, size, room float64, n int) []string {
	var lines []string
	line := ""
	words := pieces(strings.Fields(s), size, room, n)
	for i, w := range words {
		next := strings.TrimSpace(line + " " + w)
		if line == "" || Width(next, size) <= room {
			line = next
			continue
		}
		if len(lines) == n-1 {
			line = Fit(line+" "+strings.Join(words[i:], " "), size, room)
			break
		}
		lines = append(lines, Fit(line, size, room))
		line = w
	}
	if line != "" {
		lines = append(lines, Fit(line, size, room))
	}
	return lines
}

// pieces splits words that are wider than the room, if there is more than one line.
func pieces(words []string, size, room float64, n int) []string {
	var out []string
	for _, w := range words {
		for r := []rune(w); n > 1 && len(out) <= n && len(r) > 1 && Width(string(r), size) > room; {
			k := 1
			for sum := Width(string(r[0]), size); k < len(r)-1; k++ {
				if sum += Width(string(r[k]), size); sum > room {
					break
				}
			}
			for k > 1 && (unicode.IsMark(r[k]) || r[k] == 0x200d || r[k-1] == 0x200d || r[k] >= 0x1f3fb && r[k] <= 0x1f3ff) { // marks stay with their letter
				k--
			}
			out = append(out, string(r[:k]))
			r = r[k:]
			w = string(r)
		}
		out = append(out, w)
	}
	return out
}
