package media

import (
	"bytes"
	"io"
	"strings"
)

// A placeholder is ${media:REF}. One more dollar escapes it: $${media:REF} is written as the
// literal text ${media:REF} and never resolved.
const (
	placeholderOpen = "${media:"
	placeholderLen  = len(placeholderOpen) + 4 + refDigits + 1
)

// Resolver writes the replacement of a placeholder. It is called in text order.
type Resolver func(w io.Writer, r Ref) error

// Resolve copies src to dst and replaces every placeholder with what resolve writes. Its memory is O(64 KiB) for texts
// and items of any size. It copies the text around placeholders, and malformed placeholders, byte for byte.
func Resolve(dst io.Writer, src io.Reader, resolve Resolver) error {
	buf := make([]byte, 0, 64<<10)
	for idle := 0; ; {
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		rest, werr := resolveChunk(dst, buf, resolve, err == io.EOF)
		if werr != nil {
			return werr
		}
		buf = buf[:copy(buf[:cap(buf)], rest)]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if idle++; n > 0 {
			idle = 0
		} else if idle == maxIdleReads {
			return io.ErrNoProgress
		}
	}
}

// maxIdleReads is how many consecutive empty reads are allowed before a reader counts as broken.
const maxIdleReads = 100

// resolveChunk writes the part of b that is decided and returns the undecided tail, which is shorter than an escaped
// placeholder. Text between placeholders is written in one call, however many lone dollars it contains.
func resolveChunk(dst io.Writer, b []byte, resolve Resolver, last bool) ([]byte, error) {
	text := 0 // b[text:i] is decided and not yet written
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '$')
		if n < 0 {
			return nil, write(dst, b[text:])
		}
		i += n
		used, ref, whole := scanDollar(b[i:])
		switch {
		case !whole && !last:
			return b[i:], write(dst, b[text:i])
		case used == 1:
			i++
			continue
		}
		if err := write(dst, b[text:i]); err != nil {
			return nil, err
		}
		text = i + 1 // an escape loses its first dollar
		if ref != "" {
			text = i + used
			if err := resolve(dst, ref); err != nil {
				return nil, err
			}
		}
		i += used
	}
}

// write writes b to dst unless b is empty.
func write(dst io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := dst.Write(b)
	return err
}

// scanDollar examines b, which begins with a dollar. It returns how many bytes are decided, the ref
// if they are a placeholder, and whether b was long enough to decide.
func scanDollar(b []byte) (used int, ref Ref, whole bool) {
	if len(b) == 1 {
		return 1, "", false
	}
	if b[1] == '$' {
		r, ok, whole := scanPlaceholder(b[1:])
		if ok {
			return placeholderLen + 1, "", r != ""
		}
		return 1, "", whole
	}
	r, ok, whole := scanPlaceholder(b)
	if ok {
		return placeholderLen, r, true
	}
	return 1, "", whole
}

// scanPlaceholder parses one placeholder at the start of b. whole is false while b is a proper
// prefix of a possible placeholder.
func scanPlaceholder(b []byte) (r Ref, ok, whole bool) {
	n := min(len(b), len(placeholderOpen))
	if string(b[:n]) != placeholderOpen[:n] {
		return "", false, true
	}
	if len(b) < placeholderLen {
		i := bytes.IndexAny(b[n:], "\"'<> }\n")
		return "", false, i >= 0
	}
	s := string(b[len(placeholderOpen) : placeholderLen-1])
	if b[placeholderLen-1] != '}' || !validRef(s) {
		return "", false, true
	}
	return Ref(s), true, true
}

// ResolveString is [Resolve] on a string, for small replacements such as URLs.
func ResolveString(s string, resolve func(Ref) string) string {
	if !strings.Contains(s, placeholderOpen) {
		return s
	}
	var out strings.Builder
	// A strings.Builder and a strings.Reader do not fail.
	_ = Resolve(&out, strings.NewReader(s), func(w io.Writer, r Ref) error {
		_, err := io.WriteString(w, resolve(r))
		return err
	})
	return out.String()
}

// Refs returns the refs of all placeholders in s, in order, without duplicates.
func Refs(s string) []Ref {
	var refs []Ref
	seen := map[Ref]bool{}
	ResolveString(s, func(r Ref) string {
		if !seen[r] {
			seen[r] = true
			refs = append(refs, r)
		}
		return ""
	})
	return refs
}

// BadRefs returns the texts that look like placeholders but hold no valid ref, such as those a model invents
// (${media:image_1}). It also returns refs without a closing brace, with a note that it is missing.
func BadRefs(s string) []string {
	var bad []string
	for {
		i := strings.Index(s, placeholderOpen)
		if i < 0 {
			return bad
		}
		escaped := i > 0 && s[i-1] == '$'
		body := s[i+len(placeholderOpen):]
		end := strings.IndexAny(body, "}\"'<> \n")
		if end < 0 {
			end = len(body)
		}
		switch {
		case escaped:
		case !validRef(body[:end]):
			bad = append(bad, body[:end])
		case end == len(body) || body[end] != '}':
			bad = append(bad, body[:end]+" (without its closing brace)")
		}
		s = body[end:]
	}
}
