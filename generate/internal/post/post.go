// Package post makes one call to a provider, in JSON or as a form, and tells what became
// of it. It is what drivers have in common: set-up ([New]), a call and its answer
// ([Client.Do]), what an error answer means ([Fault]), request bodies ([Body]), uploads
// ([Client.Upload]), how tasks stand ([Provider.Stands]), and the calls of webhooks
// ([Provider.Hear]).
//
// It holds the rule about money: a call whose request never left this machine may
// be made again, a call that was sent and not answered may have been billed and is
// never repeated. Redirects are not followed, because they would carry the key and
// the prompt elsewhere.
//
// Errors are media.Error values; no text in them holds base64 or the key. It may
// import generate, media, wire and internal/safehttp; every driver uses it.
package post

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// Send posts body as JSON and reads the whole answer, whatever its status. The
// error is for calls without an answer; its Retryable is true only where the
// request cannot have reached the provider.
func (c *Client) Send(ctx context.Context, address string, header http.Header, body any) (*Answer, error) {
	s, err := c.Open(ctx, address, header, body)
	if err != nil {
		return nil, err
	}
	return s.Read(), nil
}

// Get asks for something that costs nothing: a lost call may be made again, and its
// error says so. The whole answer is read, whatever its status.
func (c *Client) Get(ctx context.Context, address string, header http.Header) (*Answer, error) {
	ctx, collector := wire.WithCollector(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%s is not a usable address: %s", c.BaseVariable, c.Clean(err.Error()))
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := c.calls.Do(req) //nolint:bodyclose // Read closes it.
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, c.Ended(ctx, false)
	case err != nil:
		e := media.Errorf(media.CodeUnavailable, "ask %s: %s: check the network and %s", c.Name, c.reason(err), c.BaseVariable)
		e.Retryable = true
		return nil, e
	}
	a := (&Stream{Status: res.StatusCode, Header: res.Header, Body: res.Body, Media: collector}).Read()
	if coded, ok := errors.AsType[*media.Error](a.Broken); ok {
		return nil, fmt.Errorf("read the answer of %s: %w", c.Name, coded)
	}
	if a.Cut() {
		e := media.Errorf(media.CodeUnavailable, "the answer of %s ended before it was whole: it is asked again", c.Name)
		e.Retryable = true
		return nil, e
	}
	a.free = true
	return a, nil
}

// Open posts body as JSON, or a [*Form] as multipart/form-data, and hands out the
// answer unread.
func (c *Client) Open(ctx context.Context, address string, header http.Header, body any) (*Stream, error) {
	buf, kind, err := c.encode(body)
	if err != nil {
		return nil, err
	}
	var sent atomic.Bool
	ctx, collector := wire.WithCollector(ctx)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, buf)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "%s is not a usable address: %s", c.BaseVariable, c.Clean(err.Error()))
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", kind)
	// Idempotency-Key is left out on purpose: net/http takes it as leave to repeat
	// the POST by itself, and these endpoints do not deduplicate by it.
	res, err := c.calls.Do(req) //nolint:bodyclose // The caller reads and closes the stream.
	if err != nil {
		return nil, c.unanswered(ctx, err, sent.Load())
	}
	return &Stream{Status: res.StatusCode, Header: res.Header, Body: res.Body, Media: collector}, nil
}

// encode writes a body and tells its type.
func (c *Client) encode(body any) (*bytes.Buffer, string, error) {
	if f, ok := body.(*Form); ok {
		return f.encode(c.Name)
	}
	buf := &bytes.Buffer{}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, "", media.Errorf(media.CodeInvalid, "an option for %s cannot be written as JSON: %w", c.Name, err)
	}
	return buf, "application/json", nil
}

// unanswered says what a call without an answer means for the caller's money.
func (p *Provider) unanswered(ctx context.Context, err error, sent bool) error {
	if ctx.Err() != nil { // also where the cause of that has a code of its own
		return p.Ended(ctx, sent)
	}
	var coded *media.Error
	if errors.As(err, &coded) {
		return fmt.Errorf("call %s: %w", p.Name, coded)
	}
	why := p.reason(err)
	if !sent {
		return media.Errorf(media.CodeUnavailable, "cannot reach %s (%s): check the network and %s", p.Name, why, p.BaseVariable)
	}
	e := media.Errorf(media.CodeUnavailable,
		"the connection to %s was lost after the request was sent (%s): it may have been billed, so it is not repeated; ask again if you accept that", p.Name, why)
	e.Retryable, e.Cause = false, driver.ErrUnsettled
	return e
}

// reason shortens a transport error to its cause, without the URL.
func (p *Provider) reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Err != nil {
		err = o.Err
	}
	return p.Clean(err.Error())
}

// Ended is the error for a context that ended during a call.
func (p *Provider) Ended(ctx context.Context, sent bool) error {
	code, what := media.CodeCancelled, "was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code, what = media.CodeDeadline, "ran out of time"
	}
	note := ""
	if sent {
		note = "; the provider may bill it all the same"
	}
	e := media.Errorf(code, "the call to %s %s%s", p.Name, what, note)
	if sent {
		e.Cause = driver.ErrUnsettled
	}
	return e
}

// Lost is the error for an answer that ended early. A synchronous answer cannot
// be asked for again, so what was on its way is billed and lost.
func (p *Provider) Lost(ctx context.Context, cause error, saved int) error {
	if ctx.Err() != nil {
		return p.Ended(ctx, true)
	}
	if errors.Is(cause, bufio.ErrTooLong) {
		cause = media.Errorf(media.CodeTooLarge, "one event of it is over %d MiB beside its media: the call is billed, so it is not repeated", frameLimit>>20)
	}
	if coded, ok := errors.AsType[*media.Error](cause); ok {
		return fmt.Errorf("read the answer of %s: %w: %w", p.Name, coded, driver.ErrUnsettled)
	}
	kept := "nothing of it arrived whole"
	if saved > 0 {
		kept = fmt.Sprintf("%d that arrived whole is kept", saved)
	}
	e := media.Errorf(media.CodeBadResponse,
		"the answer of %s ended before it was whole (%s): the call is billed and cannot be fetched again, so it is not repeated", p.Name, kept)
	e.Cause = errors.Join(driver.ErrUnsettled, cause)
	return e
}

// Clean makes a provider's text fit for an error: no base64, no key, one line, at
// most 300 bytes.
func (p *Provider) Clean(s string) string {
	const most = 300
	return p.config.secrets.Clean(s, most)
}
