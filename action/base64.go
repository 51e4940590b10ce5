package action

import (
	"encoding/base64"
	"fmt"
	"strings"

	"atelier/media"
	"atelier/probe"
)

// Decoding is wire's. What is told here is whether a text that stands where media
// was declared is base64 at all, because nearly every short word would decode.

// What it takes for declared base64 text to be media.
const (
	// minSigned characters are enough where the decoded bytes begin like media.
	minSigned = 24
	// minBlind characters are enough where a declaration alone says that it is media.
	minBlind = 64
)

// looksBase64 tells whether the whole text is base64 in any spelling: standard or
// URL-safe, padded or not, folded, with the escapes of JSON.
func looksBase64(s string) bool {
	s = strings.TrimSpace(s)
	if len(s) < minSigned || clipRaw(s, 5) == "data:" {
		return false
	}
	return onlyBase64(s) && (signed(s) || len(s) >= minBlind && mixed(s))
}

// onlyBase64 tells whether nothing else stands in s.
func onlyBase64(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isBase64Byte(c), c == '\n', c == '\r', c == ' ' && i > 16:
		case c == '=' && i >= len(s)-8:
		case c == '\\' && escape(s[i:]) > 0:
			i += escape(s[i:]) - 1
		default:
			return false
		}
	}
	return true
}

// escape gives the length of a JSON escape that base64 may hold, or 0.
func escape(s string) int {
	switch {
	case strings.HasPrefix(s, `\/`), strings.HasPrefix(s, `\n`), strings.HasPrefix(s, `\r`):
		return 2
	case len(s) >= 6 && s[1] == 'u' && strings.Contains("002B 002b 002F 002f 003D 003d 002D 002d 005F 005f", s[2:6]):
		return 6
	}
	return 0
}

func isBase64Byte(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' ||
		c == '+' || c == '/' || c == '-' || c == '_'
}

// signed tells whether the decoded bytes begin like media.
func signed(s string) bool {
	s = strings.NewReplacer(
		"\n", "", "\r", "", " ", "", `\n`, "", `\r`, "", `\/`, "/", "-", "+", "_", "/", "=", "",
		`\u002B`, "+", `\u002b`, "+", `\u002F`, "/", `\u002f`, "/", `\u002D`, "+", `\u002d`, "+", `\u005F`, "/", `\u005f`, "/",
	).Replace(clipRaw(s, 1024))
	s = s[:min(len(s)/4*4, 128)]
	head, err := base64.RawStdEncoding.DecodeString(s)
	return err == nil && len(head) >= minSigned*3/4 && probe.Media(head)
}

// minLeak characters of base64 that begin like media are no text that may be shown,
// however short the media is.
const minLeak = 48

// withoutSigned replaces base64 that stands inside a text and begins like media by its
// length. Longer media was lifted before; identifiers and checksums pass.
func withoutSigned(s string) string {
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); i++ {
		if !isBase64Byte(s[i]) {
			continue
		}
		start := i
		for i < len(s) && (isBase64Byte(s[i]) || escape(s[i:]) > 0) {
			i += max(1, escape(s[i:]))
		}
		if i-start >= minLeak && signed(s[start:i]) {
			for i < len(s) && s[i] == '=' {
				i++
			}
			out.WriteString(s[kept:start])
			fmt.Fprintf(&out, "[base64, %d characters]", i-start)
			kept = i
		}
	}
	if kept == 0 {
		return s
	}
	return out.String() + s[kept:]
}

// mixed tells base64 from long identifiers, hexadecimal numbers, paths and words:
// it has upper case, lower case and digits, many of each, and few separators.
func mixed(s string) bool {
	s = clipRaw(s, 4096)
	var upper, lower, digit, separator int
	seen := map[byte]bool{}
	for _, c := range []byte(s) {
		seen[c] = true
		switch {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digit++
		case c == '/' || c == '-' || c == '_':
			separator++
		}
	}
	n := len(s)
	return len(seen) >= 24 && upper*10 >= n && lower*10 >= n && digit*20 >= n && separator*8 <= n
}

// safeText is text that may be shown anywhere: valid, without control characters,
// every longer run of base64 replaced by its length.
func safeText(s string) string {
	if !printable(s) {
		s = strings.Map(func(c rune) rune {
			if c < ' ' && c != '\n' && c != '\t' {
				return -1
			}
			return c
		}, strings.ToValidUTF8(s, "�"))
	}
	return media.Scrub(s)
}

func clipRaw(s string, n int) string { return s[:min(n, len(s))] }
