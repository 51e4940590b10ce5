package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// apiError is the inside of OpenAI's error envelope. Any field may be null; code is
// a number on some compatible servers.
type apiError struct {
	Message    string   `json:"message"`
	Type       string   `json:"type"`
	Param      string   `json:"param"`
	Code       anyText  `json:"code"`
	Moderation *verdict `json:"moderation_details"`
}

// verdict is what the safety system says about a refusal.
type verdict struct {
	Stage      string   `json:"moderation_stage"`
	Categories []string `json:"categories"`
}

// anyText reads a JSON string or number as text, and null as "".
type anyText string

// UnmarshalJSON takes what compatible servers put in place of a string.
func (t *anyText) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" {
		s = ""
	}
	*t = anyText(s)
	return nil
}

// refused reads an answer that is not a 200.
func (d *Driver) refused(ctx context.Context, t generate.Task, a *post.Answer) (generate.Update, error) {
	if ctx.Err() != nil {
		return generate.Update{}, d.client.Ended(ctx, true)
	}
	var envelope struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil || envelope.Error == nil {
		e := d.client.NotJSON(a)
		if e.Code == media.CodeRateLimited {
			e.RetryAfter = d.wait(a.Header)
		}
		return generate.Update{}, e
	}
	said := envelope.Error
	said.clean(d.client)
	if said.moderated() {
		return generate.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}, Items: d.refusals(said, max(t.N, 1))}, nil
	}
	return generate.Update{}, d.meaning(t, a.Status, a.Header, said)
}

// clean makes every text of the error fit to be shown.
func (e *apiError) clean(c *post.Client) {
	if e.Moderation == nil {
		e.Moderation = &verdict{Categories: violations(e.Message)}
	}
	e.Message, e.Param = c.Clean(e.Message), c.Clean(e.Param)
	for i, s := range e.Moderation.Categories {
		e.Moderation.Categories[i] = c.Clean(s)
	}
	e.Moderation.Stage = c.Clean(e.Moderation.Stage)
}

// safetyViolations is how refusals without details name the categories.
var safetyViolations = regexp.MustCompile(`safety_violations=\[([^\]]*)\]`)

func violations(message string) []string {
	m := safetyViolations.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	return strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
}

func (e *apiError) moderated() bool {
	return e.Code == "moderation_blocked" || e.Code == "content_policy_violation"
}

// refusals is the refusal as n results. The provider's request id stays in the message.
func (d *Driver) refusals(e *apiError, n int) []generate.Item {
	items := make([]generate.Item, 0, max(n, 0))
	for range n {
		items = append(items, generate.Item{
			Err:    media.Errorf(media.CodeModerated, "the safety system of %s refused the prompt or the picture: change the prompt (%s)", d.endpoint.Name, e.Message),
			Safety: &generate.Safety{Blocked: true, Stage: e.Moderation.Stage, Categories: e.Moderation.Categories},
		})
	}
	return items
}

// meaning turns an error envelope into the one error vocabulary. A stream's error
// has status 200 and is judged by its words alone.
func (d *Driver) meaning(t generate.Task, status int, h http.Header, said *apiError) *media.Error {
	model, name := t.Model.APIModel, d.endpoint.Name
	switch {
	case said.Code == "insufficient_quota" || said.Type == "insufficient_quota" || said.Code == "billing_hard_limit_reached":
		return media.Errorf(media.CodeQuotaExceeded, "the %s account has no credit left: add credit or raise its limit%s (%s)", name, d.where(" under Billing at platform.openai.com"), said.Message)
	case status == http.StatusTooManyRequests || said.Code == "rate_limit_exceeded":
		e := media.Errorf(media.CodeRateLimited, "the rate limit of %s is reached: wait and try again (%s)", name, said.Message)
		e.RetryAfter = d.wait(h)
		return e
	case status == http.StatusUnauthorized || said.Code == "invalid_api_key":
		return media.Errorf(media.CodeUnauthorized, "%s refused the key: check %s%s", name, cmp.Or(d.endpoint.KeyVariable, "whether it wants one (endpoint.key_variable)"), d.where(" (platform.openai.com, API keys)"))
	case strings.Contains(said.Message, "must be verified"):
		return media.Errorf(media.CodeForbidden,
			"OpenAI gives %s to verified organizations only: open platform.openai.com/settings/organization/general, choose Verify Organization, wait up to 15 minutes, then try again; or use another model (atelier models list)", model)
	case said.Code == "model_not_found" || said.Param == "model" || status == http.StatusNotFound && said.Param == "":
		return media.Errorf(media.CodeNotFound, "%s has no model %s for this, or has it no longer: choose one that \"atelier models list\" shows as live", name, model)
	case status == http.StatusForbidden:
		return media.Errorf(media.CodeForbidden, "%s does not let this account use %s: %s", name, model, said.Message)
	case status == http.StatusOK || status >= http.StatusInternalServerError || status == http.StatusRequestTimeout || status == http.StatusConflict:
		return d.broke(status, h, said)
	}
	setting := ""
	if said.Param != "" {
		setting = " (setting " + said.Param + ")"
	}
	return media.Errorf(media.CodeInvalid, "%s refused the request for %s%s: %s", name, model, setting, said.Message)
}

// where is a hint that holds for OpenAI alone.
func (d *Driver) where(hint string) string {
	if d.own {
		return hint
	}
	return ""
}

// broke is a failure on the provider's side. Only the statuses of the package
// comment are repeated; OpenAI's own word about it wins.
func (d *Driver) broke(status int, h http.Header, said *apiError) *media.Error {
	e := media.Errorf(media.CodeUnavailable, "%s failed with status %d: try again later (%s)", d.endpoint.Name, status, said.Message)
	switch status {
	case http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusRequestTimeout, http.StatusConflict:
	default:
		e.Retryable = false
		e.Message += "; the call may have been billed, so it is not repeated"
	}
	if should, err := strconv.ParseBool(h.Get("X-Should-Retry")); err == nil {
		e.Retryable = should
	}
	e.RetryAfter = d.wait(h)
	return e
}

// wait reads how long OpenAI asks to wait; 0 if it does not.
func (d *Driver) wait(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(at.Sub(d.now()), 0)
	}
	var longest time.Duration
	for _, limit := range []string{"Requests", "Tokens", "Input-Images"} {
		if h.Get("X-Ratelimit-Remaining-"+limit) != "0" {
			continue
		}
		if reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + limit)); err == nil {
			longest = max(longest, reset)
		}
	}
	return longest
}
