package wire

import (
	"strings"

	"atelier/media"
)

// Placeholders replaces tokens in a text by the placeholders of their refs, so that the history contains refs only. A
// data: URL around a token is replaced with it. A token that is not valid in the scope becomes "[unavailable media]".
func (c *Codec) Placeholders(scope, s string) string {
	if !strings.Contains(s, familyPrefix) {
		return s
	}
	var out strings.Builder
	for {
		k := strings.Index(s, familyPrefix)
		if k < 0 {
			out.WriteString(s)
			return out.String()
		}
		e := k + runEnd([]byte(s[k:]), 0)
		out.WriteString(s[:dataURLStart(s, k)])
		if b, _, err := c.Parse(scope, s[k:e]); err == nil {
			out.WriteString(media.RefOf(media.ModalityOf(b.MIMEType), b.Digest).Placeholder())
		} else {
			out.WriteString("[unavailable media]")
		}
		s = s[e:]
	}
}

// dataURLStart returns the start of the data: URL that ends at position k, or k if there is none.
func dataURLStart(s string, k int) int {
	const longest = 200
	before := s[:k]
	if !strings.HasSuffix(before, dataMark) {
		return k
	}
	i := strings.LastIndex(before, "data:")
	if i < 0 || k-i > longest || strings.ContainsAny(before[i:], " \"'()<>\n") {
		return k
	}
	return i
}
