package post

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// Answer is what came back, media lifted out of it.
type Answer struct {
	Status int
	Header http.Header
	// Body is the text around the media; whole if Broken is nil.
	Body []byte
	// Media knows every item that was lifted from the body.
	Media *wire.Collector
	// Broken says why the body ended early; nil if it is whole.
	Broken error

	free bool // of a call that costs nothing
}

// Stream is an answer whose body is still coming.
type Stream struct {
	Status int
	Header http.Header
	Body   io.ReadCloser
	Media  *wire.Collector
}

// Read reads the rest of a stream as one answer and closes it.
func (s *Stream) Read() *Answer {
	defer func() { _ = s.Body.Close() }()
	a := &Answer{Status: s.Status, Header: s.Header, Media: s.Media}
	a.Body, a.Broken = io.ReadAll(s.Body)
	return a
}

// Cut reports whether the body ended early.
func (a *Answer) Cut() bool { return a.Broken != nil }

// tooLarge reports whether the body was longer than answers may be.
func (a *Answer) tooLarge() bool { return media.CodeOf(a.Broken) == media.CodeTooLarge }

// Decode reads the answer's JSON into v, whatever type it is said to have. A body that ends early, in whatever way,
// makes it [Answer.Cut] and is no error; the error for anything else is [Provider.NotJSON].
func (p *Provider) Decode(a *Answer, v any) error {
	if a.Cut() {
		return nil
	}
	err := json.Unmarshal(a.Body, v)
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case err != nil && !a.IsJSON():
		return p.NotJSON(a)
	case isSyntax && len(a.Body) > 0 && syntax.Offset >= int64(len(a.Body)):
		a.Broken = io.ErrUnexpectedEOF
	case err != nil:
		return p.NotJSON(a)
	}
	return nil
}

// Take gives the item that was lifted as token, or why there is none.
func (p *Provider) Take(from *wire.Collector, token string) (*media.Blob, *media.Error) {
	l, ok := from.Lookup(token)
	if !ok {
		return nil, media.Errorf(media.CodeBadResponse, "%s gave something that is no media in its place: try again or use another model", p.Name)
	}
	if l.Err != nil {
		e := media.Errorf(media.CodeOf(l.Err), "%s gave media that cannot be taken: %s", p.Name, p.Clean(l.Err.Error()))
		e.Cause, e.Retryable = l.Err, false
		return nil, e
	}
	return &l.Blob, nil
}

// IsJSON reports whether the answer says that it is JSON.
func (a *Answer) IsJSON() bool {
	t, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// NotJSON is the error for an answer in another form than the protocol's: a page
// of a proxy, a redirect, or broken JSON.
func (p *Provider) NotJSON(a *Answer) *media.Error {
	kind := a.Header.Get("Content-Type")
	if kind == "" {
		kind = "text without a type"
	}
	e := media.Errorf(media.CodeBadResponse,
		"%s answered status %d with %s instead of its protocol's JSON: check that %s and any proxy lead to the API", p.Name, a.Status, p.Clean(kind), p.BaseVariable)
	if !a.free {
		e.Cause = driver.ErrUnsettled
		e.Message += "; the call may have been billed, so it is not repeated"
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		e.Code, e.Cause = media.CodeUnauthorized, nil
	case a.Status == http.StatusForbidden:
		e.Code, e.Cause = media.CodeForbidden, nil
	case a.Status == http.StatusTooManyRequests:
		e.Code, e.Retryable, e.Cause = media.CodeRateLimited, true, nil
		e.Message = p.Name + " or a proxy before it answered 429, too many requests: wait and try again"
	case a.Status >= http.StatusInternalServerError:
		e.Code = media.CodeUnavailable
	}
	return e
}
