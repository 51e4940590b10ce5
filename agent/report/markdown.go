package report

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// destinations find where Markdown names an address: in links, pictures, definitions of links and angle brackets,
// and in attributes of HTML, with either quote or none.
var destinations = []*regexp.Regexp{
	regexp.MustCompile(`(\]\(\s*<?|(?m:^)[ \t>]*\[[^\]\n]+\]:\s*<?|<)([^\s<>()"']+)`),
	regexp.MustCompile(`(?i)(\b(?:href|src|action|formaction|data)\s*=\s*")([^"]+)`),
	regexp.MustCompile(`(?i)(\b(?:href|src|action|formaction|data)\s*=\s*')([^']+)`),
	regexp.MustCompile(`(?i)(\b(?:href|src|action|formaction|data)\s*=\s*)([^\s"'>]+)`),
}

// withoutActiveLinks is Markdown in which addresses that run code or bring a document of their own lead nowhere:
// a viewer may follow them. All other text passes unchanged.
func withoutActiveLinks(text string) string {
	for _, where := range destinations {
		text = where.ReplaceAllStringFunc(text, func(found string) string {
			if parts := where.FindStringSubmatch(found); active(parts[2]) {
				return parts[1] + "#removed"
			}
			return found
		})
	}
	return text
}

// active reports whether an address runs code or is a document, as browsers read it: with
// character references, and without blanks, control characters and escapes in the scheme.
func active(address string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '\\' {
			return -1
		}
		return unicode.ToLower(r)
	}, html.UnescapeString(address))
	for _, scheme := range []string{"javascript:", "vbscript:", "data:"} {
		if strings.HasPrefix(plain, scheme) {
			return true
		}
	}
	return false
}
