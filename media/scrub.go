package media

import (
	"strconv"
	"strings"
)

const (
	// scrubMin is the shortest run of base64 characters that Scrub replaces.
	scrubMin = 48
	// scrubHexMax is the longest run of hexadecimal digits that passes as a checksum.
	scrubHexMax = 128
	// scrubWordMax is the longest stretch without / + - _ that may still be a word of a path.
	scrubWordMax = 32
)

// Scrub replaces every run of 48 or more base64 characters, in either alphabet and
// with JSON's escaped slashes, by [base64, N characters]. It is the last defence
// for text that goes into an error, a log or a database row (law 1). Checksums,
// rules drawn with dashes, and paths made of words pass. JSON text stays valid.
func Scrub(s string) string {
	if len(s) < scrubMin {
		return s
	}
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		if w := escapeWidth(s[i:]); w > 0 {
			i += w
			continue
		}
		end, n := base64Run(s, i)
		if end == i {
			i++
			continue
		}
		if n >= scrubMin && !harmless(strings.ReplaceAll(s[i:end], `\/`, "/")) {
			out.WriteString(s[kept:i])
			out.WriteString("[base64, " + strconv.Itoa(n) + " characters]")
			kept = end
		}
		i = end
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// escapeWidth gives the width of a JSON escape at the start of s that is no part
// of base64, so that its letter is not taken for the start of a run; else 0.
func escapeWidth(s string) int {
	if len(s) < 2 || s[0] != '\\' {
		return 0
	}
	switch s[1] {
	case 'u':
		return min(6, len(s))
	case 'n', 'r', 't', 'b', 'f', '"', '\\':
		return 2
	}
	return 0
}

// base64Run finds the end of the run that starts at i, and its length in base64 characters.
func base64Run(s string, i int) (end, n int) {
	for i < len(s) {
		switch {
		case base64Byte(s[i]):
			i++
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '/':
			i += 2
		default:
			return i, n
		}
		n++
	}
	return i, n
}

func base64Byte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '=' || isSeparator(c)
}

func isSeparator(c byte) bool { return c == '+' || c == '/' || c == '-' || c == '_' }
func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isLetter(c byte) bool    { return isUpper(c) || c >= 'a' && c <= 'z' }
func isUpper(c byte) bool     { return c >= 'A' && c <= 'Z' }

// harmless tells checksums, drawn rules and paths of words from base64. Encoded
// media mixes cases and digits at nearly every second character, or repeats one
// character; words do neither.
func harmless(run string) bool {
	if strings.Trim(run, "-=") == "" {
		return true
	}
	sum := strings.TrimPrefix(run, digestPrefix)
	if len(sum) <= scrubHexMax && strings.Trim(sum, "0123456789abcdef") == "" {
		return true
	}
	return wordy(run)
}

func wordy(run string) bool {
	word, separators, changes := 0, 0, 0
	for i := range len(run) {
		c := run[i]
		if isSeparator(c) || c == '=' {
			word = 0
			separators++
			continue
		}
		word++
		if word > scrubWordMax {
			return false
		}
		if word > 1 && (isDigit(c) != isDigit(run[i-1]) || isUpper(c) && !isUpper(run[i-1])) {
			changes++
		}
	}
	return separators <= len(run)/3 && changes <= len(run)/5
}
