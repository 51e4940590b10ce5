package leonardo

import (
	"cmp"

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

// phrases come before the API's statuses, which are not to be relied on.
var phrases = post.Phrases{
	{Any: []string{"moderation", "disallowed words"}, Code: media.CodeModerated},
	{Any: []string{"access-denied", "authorization hook", "authentication hook"}, Code: media.CodeUnauthorized},
	{Any: []string{"not enough", "insufficient"}, Code: media.CodeQuotaExceeded},
	{Any: []string{"not-exists"}, Code: media.CodeNotFound},
}

// explain reads an error answer.
func explain(a *post.Answer) (post.Fault, bool) {
	var p problem
	read := post.One(a.Body, &p)
	f := post.Fault{Words: cmp.Or(p.Error, p.Message), Label: cmp.Or(p.Code, p.Extensions.Code)}
	return f, read && f.Words+f.Label != ""
}
