package wire

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"atelier/media/probe"
)

// This file decides what is media, in streams and in values. Base64 is media if its first decoded bytes are a media
// signature and it has at least signedMin characters or is a complete file. In values, frames of MP3 or AAC are media
// too, and data without a signature is an item if a threshold is set. Declared media and data: URLs of a media type
// need no signature.

// smallestFile is the assumed minimum length of a complete media file, in base64 characters.
const smallestFile = 40

// signed reports whether the run begins like a media file.
func (c *candidateState) signed() bool {
	var head [sigBytes]byte
	n := min(c.chars, sigChars) &^ 3
	k, err := decodeRaw(head[:], c.first[:n], false)
	return err == nil && probe.HasSignature(head[:k])
}

// complete reports whether the run can be base64 from its first to its last character.
func (c *candidateState) complete() bool {
	return c.chars > 1 && c.chars%4 != 1 && !c.mixed() && (c.pads == 0 || c.pads == (4-c.chars%4)%4)
}

// isItem reports whether a run of an undeclared value is an item. With a threshold of 0, a run without a signature is
// an item only in a data: URL of a media type, or if it begins with frames of MP3 or AAC.
func (w *textRun) isItem(b []byte, threshold int) bool {
	c := &w.state
	switch body := b[w.start:w.end]; {
	case c.chars < smallestFile && !w.url:
		return false
	case c.mixed() || bytes.HasPrefix(body, []byte(familyPrefix)):
		return false
	case w.url && isMedia(strings.ToLower(w.typ)), w.url && c.signed():
		return c.complete() || c.chars >= signedMin
	case c.signed():
		return c.chars >= signedMin || c.complete() && wholeFile(body)
	case c.chars >= signedMin && c.first[0] == '/' && probe.Frames(decodeHead(body, 8192)):
		return true
	default:
		return threshold > 0 && c.chars >= threshold && data(body)
	}
}

// wholeFile reports whether a short run is a complete media file, from its signature to its end mark.
func wholeFile(run []byte) bool { return probe.Complete(decodeHead(run, signedMin)) }

// data reports whether a run without a signature encodes data: it has at least 24 different characters and does not
// decode to text.
func data(run []byte) bool {
	var seen [256]bool
	distinct := 0
	for _, ch := range run {
		if classes[ch] != 0 && !seen[ch] {
			seen[ch] = true
			distinct++
		}
	}
	return distinct >= 24 && !plain(decodeHead(run, 4096))
}

// plain reports whether the head of a file is text.
func plain(head []byte) bool {
	for k := 0; k < utf8.UTFMax && len(head) > 0 && !utf8.Valid(head); k++ {
		head = head[:len(head)-1] // a character may be cut at the end
	}
	return utf8.Valid(head) && bytes.IndexFunc(head, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }) < 0
}

// decodeHead decodes up to n characters of a run and skips folds.
func decodeHead(run []byte, n int) []byte {
	flat := make([]byte, 0, n)
	for i := 0; i < len(run) && len(flat) < n; {
		ch, k, fold := run[i], 1, false
		if opens(ch) {
			ch, k, fold, _ = unescape(run[i:])
			k = max(k, 1)
		}
		i += k
		switch {
		case fold || classes[ch] == 0:
		case ch == '-':
			flat = append(flat, '+')
		case ch == '_':
			flat = append(flat, '/')
		default:
			flat = append(flat, ch)
		}
	}
	out := make([]byte, len(flat))
	k, err := decodeRaw(out, flat, false)
	if err != nil {
		k = 0
	}
	return out[:k]
}

// Encoded reports whether a text consists of base64 in any form that [Codec.LiftString] reads. Where media is declared,
// such a text may be media. A text that begins with "data:" is not.
func Encoded(s string) bool {
	_, ok := wholeValue([]byte(s), ValueOptions{Declared: true})
	return ok && !strings.HasPrefix(s, "data:")
}

// Signed reports whether a text consists of base64 or a base64 data: URL and begins like a media file.
func Signed(s string) bool {
	w, ok := wholeValue([]byte(s), ValueOptions{Declared: true})
	return ok && probe.Media(decodeHead(w.body, 96))
}
