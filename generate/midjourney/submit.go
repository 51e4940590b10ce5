package midjourney

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// The codes of a submission.
const (
	codeAccepted = 1
	codeNotFound = 3
	codeInvalid  = 4
	codeFailed   = 9
	codeExists   = 21
	codeQueued   = 22
	codeFull     = 23
	codeBanned   = 24
	codeBusy     = 30 // of resellers: the group's load is full
)

// anyText reads a JSON string or number as text, and anything else as "".
type anyText string

// UnmarshalJSON takes what proxies put in place of a string.
func (t *anyText) UnmarshalJSON(b []byte) error {
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = anyText(s)
	case json.Unmarshal(b, &n) == nil:
		*t = anyText(n.String())
	default:
		*t = ""
	}
	return nil
}

// submitted is the answer to a submission.
type submitted struct {
	Code        int             `json:"code"`
	Description string          `json:"description"`
	Result      anyText         `json:"result"`
	Properties  json.RawMessage `json:"properties"`
}

// finalPrompt is the prompt that a window shows, flags included.
func (s submitted) finalPrompt() string {
	var p struct {
		FinalPrompt anyText `json:"finalPrompt"`
	}
	// Proxies put null or a text in the place of the object: then nothing is shown.
	if json.Unmarshal(s.Properties, &p) != nil {
		return ""
	}
	return string(p.FinalPrompt)
}

// submit hands something in; the answer names a task, or is a banned word.
func (d *Driver) submit(ctx context.Context, t generate.Task, path, prefix string, body map[string]any) (submitted, error) {
	a, err := d.client.Send(ctx, d.base+prefix+"/mj/submit/"+path, d.header, body)
	if err != nil {
		return submitted{}, err
	}
	if ctx.Err() != nil {
		return submitted{}, d.client.Ended(ctx, true)
	}
	var got submitted
	if a.Status >= http.StatusBadRequest {
		if json.Unmarshal(a.Body, &got) != nil || got.Code == 0 {
			return got, d.unspoken(a, prefix)
		}
		if got.Code == codeBanned {
			return got, nil
		}
		return got, d.meaning(t, a, got)
	}
	if err := d.client.Decode(a, &got); err != nil {
		return got, err
	}
	switch {
	case a.Cut():
		return got, d.client.Lost(ctx, a.Broken, 0)
	case got.Code == codeBanned:
		return got, nil
	case got.Code != codeAccepted && got.Code != codeQueued && got.Code != codeExists:
		return got, d.meaning(t, a, got)
	case got.Result == "":
		e := media.Errorf(media.CodeBadResponse, "the Midjourney proxy accepted the job and named no task: look at its task list; the job is not handed in again")
		e.Cause = generate.ErrUnsettled
		return got, e
	}
	return got, nil
}

// unspoken is an error status without the protocol's envelope.
func (d *Driver) unspoken(a *post.Answer, prefix string) error {
	switch {
	case a.Status == http.StatusUnauthorized:
		return media.Errorf(media.CodeUnauthorized, "the Midjourney proxy refused the secret: check MIDJOURNEY_API_SECRET")
	case a.Status == http.StatusForbidden:
		return media.Errorf(media.CodeForbidden, "the Midjourney proxy does not let this account in: look at its account list (%s)", d.client.Clean(string(a.Body)))
	case a.Status == http.StatusNotFound && prefix != "":
		return media.Errorf(media.CodeNotFound, "the Midjourney proxy has no path %s: leave midjourney.speed out", prefix)
	case a.Status == http.StatusNotFound:
		return media.Errorf(media.CodeNotFound, "the Midjourney proxy has no such endpoint: check MIDJOURNEY_PROXY_URL, or use another midjourney.action")
	case a.Status == http.StatusPaymentRequired:
		return media.Errorf(media.CodeQuotaExceeded, "the Midjourney proxy says that no credit is left: top the account up")
	case a.Status == http.StatusTooManyRequests:
		return d.tooMany(a, "")
	}
	return d.client.NotJSON(a)
}

// tooMany is a limit that passes; the wait is Retry-After's seconds.
func (d *Driver) tooMany(a *post.Answer, said string) *media.Error {
	e := media.Errorf(media.CodeRateLimited, "the Midjourney proxy takes no more jobs now: wait and try again%s", said)
	if s, err := strconv.ParseFloat(a.Header.Get("Retry-After"), 64); err == nil && s > 0 {
		e.RetryAfter = time.Duration(s * float64(time.Second))
	}
	return e
}

// meaning turns a refused submission into the one error vocabulary. In all of them no
// job was started.
func (d *Driver) meaning(t generate.Task, a *post.Answer, got submitted) error {
	said := ""
	if text := d.client.Clean(got.Description); text != "" {
		said = " (" + text + ")"
	}
	low := strings.ToLower(got.Description)
	switch {
	case a.Status == http.StatusUnauthorized:
		return media.Errorf(media.CodeUnauthorized, "the Midjourney proxy refused the secret: check MIDJOURNEY_API_SECRET%s", said)
	case strings.Contains(low, "quota") || a.Status == http.StatusPaymentRequired:
		return media.Errorf(media.CodeQuotaExceeded, "the Midjourney proxy says that no credit is left: top the account up%s", said)
	case got.Code == codeFull || got.Code == codeBusy || a.Status == http.StatusTooManyRequests:
		return d.tooMany(a, said)
	case got.Code == codeNotFound:
		return media.Errorf(media.CodeNotFound, "the Midjourney proxy no longer knows the job that made this picture: make a new one%s", said)
	case got.Code == codeInvalid:
		return media.Errorf(media.CodeInvalid, "the Midjourney proxy refused the request for %s%s", t.Model.Name, said)
	case got.Code == codeFailed && a.Status < http.StatusInternalServerError && got.Result == "":
		return media.Errorf(media.CodeUnavailable, "the Midjourney proxy could not hand the job in: try again later%s", said)
	}
	e := media.Errorf(media.CodeUnavailable, "the Midjourney proxy answered code %d, status %d: look at its task list; the job is not handed in again%s", got.Code, a.Status, said)
	e.Retryable, e.Cause = false, generate.ErrUnsettled
	return e
}
