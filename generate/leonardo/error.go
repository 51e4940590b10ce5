package leonardo

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// problem is an error answer. Version 1 is flat, parts of the API put it into a list
// and say message, with the code among extensions.
type problem struct {
	Error      string `json:"error"`
	Message    string `json:"message"`
	Code       string `json:"code"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// envelope reads the first problem; false if there is none.
func envelope(body []byte) (problem, bool) {
	var one problem
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var many []problem
		if json.Unmarshal(body, &many) == nil && len(many) > 0 {
			one = many[0]
		}
	} else if json.Unmarshal(body, &one) != nil {
		return one, false
	}
	if one.Error == "" {
		one.Error = one.Message
	}
	if one.Code == "" {
		one.Code = one.Extensions.Code
	}
	return one, one.Error != "" || one.Code != ""
}

// says tells whether the words hold one of these.
func (p problem) says(any ...string) bool {
	words := strings.ToLower(p.Error)
	for _, s := range any {
		if strings.Contains(words, s) {
			return true
		}
	}
	return false
}

// refused turns an answer that is not a 200 into the one error vocabulary; what is
// the thing that was asked for.
func (d *Driver) refused(ctx context.Context, a *post.Answer, what string) error {
	if ctx.Err() != nil {
		return d.client.Ended(ctx, true)
	}
	p, ok := envelope(a.Body)
	if !ok {
		e := d.client.NotJSON(a)
		e.RetryAfter = a.Wait()
		return e
	}
	return d.meaning(a, p, what)
}

// moderated reads the refusal of a prompt as n results; nil if the answer is none.
func (d *Driver) moderated(a *post.Answer, n int) []generate.Item {
	p, ok := envelope(a.Body)
	if !ok || a.Status >= http.StatusInternalServerError || !p.says("moderation", "disallowed words") {
		return nil
	}
	words := d.client.Clean(p.Error)
	var items []generate.Item
	for range max(n, 1) {
		items = append(items, generate.Item{
			Err:    media.Errorf(media.CodeModerated, "Leonardo refused the prompt: change it (%s)", words),
			Safety: &generate.Safety{Blocked: true, Stage: "input", Categories: []string{words}},
		})
	}
	return items
}

// meaning judges by the words first: the API's statuses are not to be relied on.
func (d *Driver) meaning(a *post.Answer, p problem, what string) *media.Error {
	words := d.client.Clean(p.Error)
	switch {
	case a.Status == http.StatusUnauthorized || p.Code == "access-denied" || p.says("authorization hook", "authentication hook"):
		return media.Errorf(media.CodeUnauthorized, "Leonardo refused the key: check LEONARDO_API_KEY (app.leonardo.ai, API access)")
	case a.Status == http.StatusPaymentRequired || p.says("not enough", "insufficient"):
		return media.Errorf(media.CodeQuotaExceeded, "the Leonardo account has no API credit left: add credit under API access at app.leonardo.ai (%s)", words)
	case a.Status == http.StatusForbidden:
		return media.Errorf(media.CodeForbidden, "Leonardo does not let this account do that: %s", words)
	case a.Status == http.StatusNotFound || p.Code == "not-exists":
		return media.Errorf(media.CodeNotFound, "Leonardo does not know %s, or no longer (%s)", what, words)
	case a.Status == http.StatusConflict:
		return media.Errorf(media.CodeConflict, "Leonardo stopped the request because another one was in its way: ask again (%s)", words)
	case a.Status == http.StatusTooManyRequests:
		e := media.Errorf(media.CodeRateLimited, "Leonardo's rate limit is reached: wait and try again (%s)", words)
		e.RetryAfter = a.Wait()
		return e
	case a.Status >= http.StatusInternalServerError:
		e := media.Errorf(media.CodeUnavailable, "Leonardo failed with status %d: try again later (%s)", a.Status, words)
		e.RetryAfter = a.Wait()
		e.Retryable = a.Status == http.StatusInternalServerError || a.Status == http.StatusServiceUnavailable
		return e
	}
	return media.Errorf(media.CodeInvalid, "Leonardo refused the request for %s: %s", what, words)
}
