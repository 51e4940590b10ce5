package safehttp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"atelier/media"
)

// minSecret is the minimum length of a secret that is removed from texts: shorter ones could be words.
const minSecret = 8

// hidden replaces a secret.
const hidden = "[key]"

// Secrets removes credentials from a provider's output in every form: plain (with or without Bearer before it), in
// base64 alone or within other data (Basic), URL-escaped, and with JSON escapes. It searches only for the configured
// values, not for similar ones. The zero value has none. It is safe for concurrent use.
type Secrets struct {
	forms []string // longest first
}

// NewSecrets returns Secrets for the values of 8 characters or more; it ignores shorter ones.
func NewSecrets(values ...string) Secrets {
	var s Secrets
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < minSecret {
			continue
		}
		query, path := url.QueryEscape(v), url.PathEscape(v)
		for _, form := range append(encodings(v), v, query, path, lowerHex(query, '%', 2), lowerHex(path, '%', 2)) {
			escaped := inJSON.Replace(form)
			s.forms = append(s.forms, form, strings.ReplaceAll(form, "/", `\/`), escaped, lowerHex(escaped, 'u', 4))
		}
	}
	slices.SortFunc(s.forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.forms = slices.Compact(s.forms)
	return s
}

// inJSON escapes characters as encoders do, including optional escapes.
var inJSON = strings.NewReplacer("/", `\/`, "+", `\u002B`, "=", `\u003D`, "&", `\u0026`, "<", `\u003C`, ">", `\u003E`, `"`, `\"`, `\`, `\\`)

// lowerHex converts the hexadecimal digits after each mark to lower case.
func lowerHex(s string, mark byte, digits int) string {
	b := []byte(s)
	for i := range b {
		if b[i] == mark && i+digits < len(b) {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+1+digits]))
		}
	}
	return string(b)
}

// encodings returns the base64 forms of a value at any position in the encoded data: the characters
// that do not depend on adjacent bytes.
func encodings(v string) (all []string) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
			text = text[(before*8+5)/6:]
			if (before+len(v))%3 != 0 { // the last character contains bits of the following byte
				text = text[:len(text)-1]
			}
			all = append(all, text)
		}
	}
	return all
}

// Redact replaces the secrets in a text.
func (s Secrets) Redact(text string) string {
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, hidden)
	}
	return text
}

// Clean prepares the text of a failure for display and storage: without secrets and base64, on one
// line, and cut after most bytes.
func (s Secrets) Clean(text string, most int) string {
	text = strings.Join(strings.Fields(media.ErrorText(s.Redact(text))), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// answer removes the secrets from a response: from its headers immediately, from its body while it is read.
func (s Secrets) answer(res *http.Response) {
	if len(s.forms) == 0 {
		return
	}
	for name, values := range res.Header {
		for i, v := range values {
			res.Header[name][i] = s.Redact(v)
		}
	}
	if res.Header.Get("Content-Length") != "" || res.ContentLength > 0 {
		res.ContentLength = -1
		res.Header.Del("Content-Length")
	}
	res.Body = &redacting{ReadCloser: res.Body, secrets: s}
}

// failure returns an error without secrets.
func (s Secrets) failure(err error) error {
	text := s.Redact(err.Error())
	if text == err.Error() {
		return err
	}
	var coded *media.Error
	if errors.As(err, &coded) {
		e := *coded
		e.Message, e.Cause = text, nil
		return &e
	}
	return redacted{text, err}
}

// redacted is an error with a replaced text.
type redacted struct {
	text string
	err  error // used by Is, never shown
}

// Error implements error.
func (r redacted) Error() string { return r.text }

// Is matches the original error.
func (r redacted) Is(target error) bool { return errors.Is(r.err, target) }

// redacting is a body without secrets.
type redacting struct {
	io.ReadCloser
	secrets Secrets
	buf     []byte // read but not settled
	ready   []byte // to be returned
	err     error
}

// Read implements [io.Reader]. It holds back only bytes that may begin a secret.
func (r *redacting) Read(p []byte) (int, error) {
	for len(r.ready) == 0 && r.err == nil {
		var n int
		at := len(r.buf)
		r.buf = slices.Grow(r.buf, 16<<10)
		n, r.err = r.ReadCloser.Read(r.buf[at : at+16<<10])
		r.buf = r.buf[:at+n]
		cut := len(r.buf)
		if r.err == nil {
			cut = r.secrets.Settled(string(r.buf))
		}
		r.ready, r.buf = []byte(r.secrets.Redact(string(r.buf[:cut]))), slices.Clone(r.buf[cut:])
	}
	n := copy(p, r.ready)
	if r.ready = r.ready[n:]; len(r.ready) > 0 {
		return n, nil
	}
	return n, r.err
}

// Settled returns the length of the beginning of a text that [Secrets.Redact] treats in the same way whatever follows.
// The rest may begin a secret; it also holds every secret that reaches into it.
func (s Secrets) Settled(text string) int {
	cut := len(text)
	if len(s.forms) > 0 {
		for n := min(len(text), len(s.forms[0])-1); n > 0 && cut == len(text); n-- {
			if slices.ContainsFunc(s.forms, func(form string) bool { return n < len(form) && strings.HasSuffix(text, form[:n]) }) {
				cut -= n
			}
		}
	}
	for moved := true; moved; {
		moved = false
		for _, form := range s.forms {
			from := max(0, cut-len(form)+1)
			if i := strings.Index(text[from:min(len(text), cut+len(form)-1)], form); i >= 0 {
				cut, moved = from+i, true
			}
		}
	}
	return cut
}
