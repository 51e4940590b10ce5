package post

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/internal/patience"
	"atelier/media"
)

// Fault is what a provider's error answer says.
type Fault struct {
	// Code is what it means; empty means what its status does.
	Code media.Code
	// Status is the HTTP status that counts; 0 means the answer's.
	Status int
	// Words are the provider's own, Label its names for the error, which are not shown.
	Words, Label string
	// Advice stands in the place of the usual one.
	Advice string
	// Wait is how long the provider asks to wait, and Quoted are headers that do, if it says so
	// elsewhere than in the answer's headers.
	Wait   time.Duration
	Quoted http.Header
	// Blocked is the verdict of a safety system; its Stage and Categories may be empty.
	Blocked *generate.Safety
	// Ran says that the work had begun, so that a failure is not repeated; Idle that nothing
	// was begun, so that it is. Where neither is set, the status tells.
	Ran, Idle bool
}

// meaning is an error code in words: what happened, and what to do where no advice of the
// provider's stands. NAME and OF are filled in.
type meaning struct{ what, advice string }

// meanings is the one vocabulary of error answers.
var meanings = map[media.Code]meaning{
	media.CodeUnauthorized:  {"NAME refused the key", "check it"},
	media.CodeQuotaExceeded: {"the account at NAME has no credit left", "add credit or raise its limit"},
	media.CodeForbidden:     {"NAME does not let this account use OF", "check its key, its limits and its restrictions"},
	media.CodeNotFound:      {"NAME does not know OF, or no longer", `choose a model that "atelier models list" shows as live`},
	media.CodeTooLarge:      {"the request is too large for OF", "send fewer or smaller pictures"},
	media.CodeRateLimited:   {"the rate limit of NAME is reached", "wait and try again"},
	media.CodeUnavailable:   {"NAME failed with status STATUS", "try again later"},
	media.CodeInvalid:       {"NAME refused the request for OF", ""},
	media.CodeBadResponse:   {"NAME answered OF with status STATUS", "try again later"},
}

// contested is an outage of one request alone.
var contested = meaning{"NAME stopped the request for OF because another one was in its way", "ask again"}

// daily is a quota that a new day fills.
var daily = meaning{"the quota of a day at NAME is used up", "raise it, or wait for the next day"}

// codeOf is what a status usually means.
func codeOf(status int) media.Code {
	switch status {
	case http.StatusUnauthorized:
		return media.CodeUnauthorized
	case http.StatusPaymentRequired:
		return media.CodeQuotaExceeded
	case http.StatusForbidden:
		return media.CodeForbidden
	case http.StatusNotFound:
		return media.CodeNotFound
	case http.StatusRequestEntityTooLarge:
		return media.CodeTooLarge
	case http.StatusTooManyRequests:
		return media.CodeRateLimited
	case http.StatusOK, http.StatusRequestTimeout, http.StatusConflict: // an error inside of a success is a failure
		return media.CodeUnavailable
	}
	if status >= http.StatusInternalServerError {
		return media.CodeUnavailable
	}
	return media.CodeInvalid
}

// refused reads an answer that is not a success.
func (p *Provider) refused(ctx context.Context, call Call, a *Answer) (driver.Update, error) {
	if ctx.Err() != nil {
		return driver.Update{}, p.Ended(ctx, !a.free)
	}
	f, ok := p.config.Explain(a)
	if !ok {
		e := p.NotJSON(a)
		e.RetryAfter = p.wait(a.Header)
		return driver.Update{}, e
	}
	return p.Refuse(call, a, f)
}

// Refuse turns what an error answer says into the one vocabulary; a verdict of a safety
// system becomes the moderated items of the call's task.
func (p *Provider) Refuse(call Call, a *Answer, f Fault) (driver.Update, error) {
	f.Status = cmp.Or(f.Status, a.Status)
	p.understand(&f)
	f.Words = p.Clean(f.Words)
	if f.Blocked != nil {
		return driver.Update{
			Done: true, Progress: 1, Usage: generate.Usage{Calls: 1},
			Items: p.Moderated(call.Task, *f.Blocked, "%s refused the prompt or the picture: %s (%s)", p.Name, cmp.Or(f.Advice, "change the prompt"), f.Words),
		}, nil
	}
	return driver.Update{}, p.fault(call, a, f)
}

// fault is the error of a [Fault]. Failures are repeated only where the provider says in
// its own words that nothing was made.
func (p *Provider) fault(call Call, a *Answer, f Fault) *media.Error {
	code := cmp.Or(f.Code, p.config.Codes[f.Status], codeOf(f.Status))
	if code == media.CodeRateLimited && !a.free && patience.Daily(f.Words) {
		return p.spent(call, a, f)
	}
	e := media.Errorf(code, "%s", p.sentence(code, call, f))
	if code == media.CodeRateLimited || code == media.CodeUnavailable {
		e.RetryAfter = max(f.Wait, p.wait(a.Header), p.wait(f.Quoted))
	}
	if code != media.CodeUnavailable {
		return e
	}
	idle := slices.Contains(append(slices.Clone(p.config.Repeat), http.StatusServiceUnavailable, http.StatusConflict), f.Status)
	e.Retryable = a.free || f.Idle || idle && !f.Ran
	if should, err := strconv.ParseBool(a.Header.Get("X-Should-Retry")); err == nil {
		e.Retryable = should
	}
	switch {
	case !e.Retryable && !a.free:
		e.Cause = driver.ErrUnsettled
		e.Message += "; the call may have been billed, so it is not repeated"
	case f.Status == http.StatusConflict:
		e.Cause = driver.ErrContested
	}
	return e
}

// spent is the error of a quota of a day. It is repeated where the provider says after which time,
// which the Gateway does once.
func (p *Provider) spent(call Call, a *Answer, f Fault) *media.Error {
	e := media.Errorf(media.CodeQuotaExceeded, "%s", p.sentence(media.CodeQuotaExceeded, call, f))
	e.RetryAfter = max(f.Wait, p.wait(a.Header), p.wait(f.Quoted))
	e.Retryable = e.RetryAfter > 0
	return e
}

// sentence says what happened and what to do. Words about a key are left out: they tend
// to quote it.
func (p *Provider) sentence(code media.Code, call Call, f Fault) string {
	m := meanings[code]
	switch {
	case code == media.CodeUnavailable && f.Status == http.StatusConflict:
		m = contested
	case code == media.CodeQuotaExceeded && patience.Daily(f.Words):
		m = daily
	}
	advice := cmp.Or(f.Advice, p.config.Advice[code], m.advice)
	s := strings.NewReplacer("NAME", p.Name, "STATUS", strconv.Itoa(f.Status), "OF", call.Of).Replace(m.what)
	switch {
	case advice == "":
		return s + ": " + f.Words
	case f.Words == "" || code == media.CodeUnauthorized:
		return s + ": " + advice
	}
	return s + ": " + advice + " (" + f.Words + ")"
}
