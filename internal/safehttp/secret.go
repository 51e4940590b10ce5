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

// shortestSecret is the length from which a secret is taken out of texts: shorter ones are words.
const shortestSecret = 8

// hidden stands where a secret was.
const hidden = "[key]"

// Secrets takes credentials out of what a provider says, wherever they stand: plain (with
// Bearer before it or not), in base64 alone or within more (Basic), URL-escaped, and with the
// escapes of JSON. It looks for the configured values and for nothing that looks like one. The zero
// value knows none. It is safe for concurrent use.
type Secrets struct {
	forms   [][]byte // longest first
	longest int
}

// NewSecrets knows values of 8 characters or more.
func NewSecrets(values ...string) Secrets {
	var s Secrets
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < shortestSecret {
			continue
		}
		query, path := url.QueryEscape(v), url.PathEscape(v)
		for _, form := range append(encodings(v), v, query, path, lowerHex(query, '%', 2), lowerHex(path, '%', 2)) {
			escaped := inJSON.Replace(form)
			for _, f := range []string{form, strings.ReplaceAll(form, "/", `\/`), escaped, lowerHex(escaped, 'u', 4)} {
				s.forms = append(s.forms, []byte(f))
			}
		}
	}
	slices.SortFunc(s.forms, func(a, b []byte) int { return cmp.Or(len(b)-len(a), bytes.Compare(a, b)) })
	s.forms = slices.CompactFunc(s.forms, bytes.Equal)
	if len(s.forms) > 0 {
		s.longest = len(s.forms[0])
	}
	return s
}

// inJSON are the escapes that encoders use, also where there is no need.
var inJSON = strings.NewReplacer("/", `\/`, "+", `\u002B`, "=", `\u003D`, "&", `\u0026`, "<", `\u003C`, ">", `\u003E`, `"`, `\"`, `\`, `\\`)

// lowerHex writes the hexadecimal digits behind a mark in lower case.
func lowerHex(s string, mark byte, digits int) string {
	b := []byte(s)
	for i := range b {
		if b[i] == mark && i+digits < len(b) {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+1+digits]))
		}
	}
	return string(b)
}

// encodings are what base64 makes of a value wherever it stands in what is encoded: the
// characters that do not depend on its neighbours.
func encodings(v string) (all []string) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
			text = text[(before*8+5)/6:]
			if (before+len(v))%3 != 0 { // the last one holds bits of what follows
				text = text[:len(text)-1]
			}
			all = append(all, text)
		}
	}
	return all
}

// Redact takes the secrets out of a text.
func (s Secrets) Redact(text string) string {
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, string(form), hidden)
	}
	return text
}

// Clean makes the text of a failure fit to be shown and stored: without secrets and base64, on
// one line, and cut after most bytes.
func (s Secrets) Clean(text string, most int) string {
	text = strings.Join(strings.Fields(media.ErrorText(s.Redact(text))), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// answer takes the secrets out of an answer: its headers now, its body while it is read.
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

// failure is an error without secrets.
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

// redacted is an error with another text.
type redacted struct {
	text string
	err  error // is asked what it is, and not shown
}

// Error implements error.
func (r redacted) Error() string { return r.text }

// Is looks at the error behind the text.
func (r redacted) Is(target error) bool { return errors.Is(r.err, target) }

// redacting is a body without secrets.
type redacting struct {
	io.ReadCloser
	secrets Secrets
	buf     []byte // read and not looked through to its end
	ready   []byte // to give out
	err     error
}

// Read implements [io.Reader]. It holds back only what may be the beginning of a secret.
func (r *redacting) Read(p []byte) (int, error) {
	for len(r.ready) == 0 && r.err == nil {
		var n int
		at := len(r.buf)
		r.buf = slices.Grow(r.buf, 16<<10)
		n, r.err = r.ReadCloser.Read(r.buf[at : at+16<<10])
		r.buf = r.buf[:at+n]
		r.look()
	}
	n := copy(p, r.ready)
	if r.ready = r.ready[n:]; len(r.ready) > 0 {
		return n, nil
	}
	return n, r.err
}

// look moves what is known to be ready.
func (r *redacting) look() {
	for _, form := range r.secrets.forms {
		if bytes.Contains(r.buf, form) {
			r.buf = bytes.ReplaceAll(r.buf, form, []byte(hidden))
		}
	}
	held := 0
	if r.err == nil {
		held = r.secrets.partialSuffix(r.buf)
	}
	cut := len(r.buf) - held
	r.ready, r.buf = r.buf[:cut:cut], slices.Clone(r.buf[cut:])
}

// PartialSuffix is how many bytes at the end of a text may be the beginning of a secret.
func (s Secrets) PartialSuffix(text string) int { return s.partialSuffix([]byte(text)) }

// partialSuffix is how many bytes at the end of b may be the beginning of a secret.
func (s Secrets) partialSuffix(b []byte) int {
	for n := min(len(b), s.longest-1); n > 0; n-- {
		for _, form := range s.forms {
			if n < len(form) && bytes.Equal(form[:n], b[len(b)-n:]) {
				return n
			}
		}
	}
	return 0
}
