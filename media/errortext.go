package media

import (
	"strconv"
	"strings"
)

// errorRun is the shortest run of base64 characters that [ErrorText] replaces.
const errorRun = 48

// ErrorText returns the text of a failure in a form that may be shown, logged or stored. A run of 48 or more base64
// characters, in either alphabet and with the escapes of JSON, becomes [base64, N characters] if it contains upper case
// (at least one character in twelve), lower case and digits and changes between them at least 16 times per 48 characters.
// Encoded media looks like that; names, hosts, paths, hexadecimal numbers and most ids do not, and are kept. Invalid
// UTF-8 is replaced. Use it for text about failures only (errors, logs, panics): program data is never rewritten (law 11).
func ErrorText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) < errorRun {
		return s
	}
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		end, n, media := errorRunAt(s, i)
		if media {
			out.WriteString(s[kept:i])
			out.WriteString("[base64, " + strconv.Itoa(n) + " characters]")
			kept = end
		}
		i = end
		if n == 0 {
			i += escapeWidth(s[i:])
		}
	}
	return out.String() + s[kept:]
}

// errorRunAt measures the run of n base64 characters from i to end, and reports whether it looks like encoded media.
func errorRunAt(s string, i int) (end, n int, media bool) {
	const upper, lower, digit, mark = 0, 1, 2, 3
	var seen [4]int
	last, changes := mark, 0
	for ; i < len(s); n++ {
		class, width := mark, 1
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			class = upper
		case c >= 'a' && c <= 'z':
			class = lower
		case c >= '0' && c <= '9':
			class = digit
		case strings.IndexByte("+/-_=", c) < 0:
			width = base64Escape(s[i:])
		}
		if width == 0 {
			break
		}
		if class != mark {
			if last != mark && class != last {
				changes++
			}
			last = class
		}
		seen[class]++
		i += width
	}
	return i, n, n >= errorRun && seen[upper]*12 >= n && seen[lower] > 0 && seen[digit] > 0 && changes*3 >= n
}

// base64Escape returns the width of a JSON escape that stands for a base64 character, or 0.
func base64Escape(s string) int {
	switch {
	case strings.HasPrefix(s, `\/`):
		return 2
	case len(s) >= 6 && s[0] == '\\' && s[1] == 'u' && strings.Contains("002b 002d 002f 003d 005f", strings.ToLower(s[2:6])):
		return 6
	}
	return 0
}

// escapeWidth returns how many bytes at the start of s are not part of a run, so that the letter of
// a JSON escape is not taken as the start of one.
func escapeWidth(s string) int {
	switch {
	case len(s) < 2 || s[0] != '\\':
		return 1
	case s[1] == 'u':
		return min(6, len(s))
	case strings.IndexByte(`nrtbf"\`, s[1]) >= 0:
		return 2
	}
	return 1
}
