package leonardo

import (
	"cmp"
	"net/http"
	"slices"
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

// explain judges by the words first: the API's statuses are not to be relied on.
func explain(a *post.Answer) (post.Fault, bool) {
	var p problem
	if !post.One(a.Body, &p) {
		return post.Fault{}, false
	}
	code := cmp.Or(p.Code, p.Extensions.Code)
	f := post.Fault{Words: cmp.Or(p.Error, p.Message)}
	if f.Words == "" && code == "" {
		return f, false
	}
	says := func(any ...string) bool {
		return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(strings.ToLower(f.Words), s) })
	}
	switch {
	case a.Status < http.StatusInternalServerError && says("moderation", "disallowed words"):
		f.Blocked = &generate.Safety{Stage: "input", Categories: []string{f.Words}}
	case code == "access-denied" || says("authorization hook", "authentication hook"):
		f.Code = media.CodeUnauthorized
	case says("not enough", "insufficient"):
		f.Code = media.CodeQuotaExceeded
	case code == "not-exists":
		f.Code = media.CodeNotFound
	}
	return f, true
}
