package bfl

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"atelier/generate/internal/post"
	"atelier/media"
)

// problem is an error answer: detail is a text, a list of fields or an object;
// newer parts of the API say message and error.
type problem struct {
	Detail     json.RawMessage `json:"detail"`
	Message    text            `json:"message"`
	Error      text            `json:"error"`
	RetryAfter json.RawMessage `json:"retry_after"`
}

// field is one violation of the schema.
type field struct {
	Loc []any `json:"loc"`
	Msg text  `json:"msg"`
}

// words are what the problem says, in the order in which the API means it. What the
// request held is not repeated.
func (p problem) words() string {
	var fields []field
	var object struct {
		Message text `json:"message"`
		Error   text `json:"error"`
	}
	var plain text
	switch {
	case len(p.Detail) == 0:
	case json.Unmarshal(p.Detail, &fields) == nil && len(fields) > 0:
		var list []string
		for _, f := range fields {
			list = append(list, strings.TrimSpace(f.name()+" "+string(f.Msg)))
		}
		return strings.Join(list, "; ")
	case json.Unmarshal(p.Detail, &plain) == nil && plain != "":
		return string(plain)
	case json.Unmarshal(p.Detail, &object) == nil && object.Message+object.Error != "":
		return first(object.Message, object.Error)
	}
	return first(p.Message, p.Error)
}

// name is the field that a violation is about.
func (f field) name() string {
	if len(f.Loc) == 0 {
		return ""
	}
	return fmt.Sprint(f.Loc[len(f.Loc)-1])
}

func first(all ...text) string {
	for _, t := range all {
		if t != "" {
			return string(t)
		}
	}
	return ""
}

// refused turns an answer that is not a 200 into the one error vocabulary; what is
// the thing that was asked for.
func (d *Driver) refused(ctx context.Context, a *post.Answer, what string) error {
	if ctx.Err() != nil {
		return d.client.Ended(ctx, true)
	}
	var p problem
	if json.Unmarshal(a.Body, &p) != nil {
		e := d.client.NotJSON(a)
		e.RetryAfter = a.Wait()
		return e
	}
	words := d.client.Clean(p.words())
	switch {
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		return media.Errorf(media.CodeUnauthorized, "Black Forest Labs refused the key: check BFL_API_KEY (dashboard.bfl.ai, API keys)")
	case a.Status == http.StatusPaymentRequired:
		return media.Errorf(media.CodeQuotaExceeded, "the account at Black Forest Labs has no credit left: add credit at dashboard.bfl.ai (%s)", words)
	case a.Status == http.StatusNotFound:
		return media.Errorf(media.CodeNotFound, "Black Forest Labs does not know %s, or no longer (%s)", what, words)
	case a.Status == http.StatusConflict:
		return media.Errorf(media.CodeConflict, "Black Forest Labs stopped the request because another one was in its way: ask again (%s)", words)
	case a.Status == http.StatusTooManyRequests:
		e := media.Errorf(media.CodeRateLimited, "Black Forest Labs has too many tasks or requests of this account: wait and try again (%s)", words)
		e.RetryAfter = max(a.Wait(), p.wait())
		return e
	case a.Status >= http.StatusInternalServerError:
		e := media.Errorf(media.CodeUnavailable, "Black Forest Labs failed with status %d: try again later (%s)", a.Status, words)
		e.RetryAfter = a.Wait()
		e.Retryable = a.Status == http.StatusInternalServerError || a.Status == http.StatusServiceUnavailable
		return e
	}
	return media.Errorf(media.CodeInvalid, "Black Forest Labs refused the request for %s: %s", what, words)
}

// wait reads retry_after, in seconds; 0 if there is none.
func (p problem) wait() time.Duration {
	var seconds float64
	if json.Unmarshal(p.RetryAfter, &seconds) != nil || seconds <= 0 || seconds > float64(post.LongestWait/time.Second) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
