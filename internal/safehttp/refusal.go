package safehttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"atelier/media"
)

// statusError tells what a status other than 2xx means for the caller.
func statusError(resp *http.Response) error {
	code := media.CodeBadResponse
	switch s := resp.StatusCode; {
	case s == http.StatusNotFound || s == http.StatusGone:
		code = media.CodeNotFound
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		code = media.CodeForbidden
	case s == http.StatusTooManyRequests:
		code = media.CodeRateLimited
	case s >= 500 || s == http.StatusRequestTimeout:
		code = media.CodeUnavailable
	}
	e := media.Errorf(code, "fetch from %s: status %d", origin(resp.Request.URL), resp.StatusCode)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(min(seconds, 24*3600)) * time.Second
	}
	return e
}

// fetchError takes the URL, which may be a signed link, out of an error.
func (c *Client) fetchError(u *url.URL, err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var coded *media.Error
	switch {
	case errors.As(err, &coded):
		return media.Errorf(coded.Code, "fetch from %s: %w", origin(u), coded)
	case errors.Is(err, context.Canceled):
		return media.Errorf(media.CodeCancelled, "fetch from %s: %w", origin(u), context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return media.Errorf(media.CodeDeadline, "fetch from %s: it took longer than %s: %w", origin(u), c.cfg.Timeout, context.DeadlineExceeded)
	case errors.Is(err, io.ErrUnexpectedEOF):
		e := media.Errorf(media.CodeBadResponse, "fetch from %s: the response was cut off: %w", origin(u), io.ErrUnexpectedEOF)
		e.Retryable = true
		return e
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return media.Errorf(media.CodeNotFound, "fetch from %s: no such host", origin(u))
	}
	// net/http quotes an answer that is no HTTP, which may be media.
	e := media.Errorf(media.CodeUnavailable, "fetch from %s: %s", origin(u), media.ErrorText(err.Error()))
	e.Cause = err
	return e
}
