package gemini

import (
	"net/http"
	"strings"
	"time"

	"atelier/generate/internal/post"
	"atelier/media"
)

// status is google.rpc.Status inside its envelope.
type status struct {
	Error *struct {
		Message string   `json:"message"`
		Status  string   `json:"status"`
		Details []detail `json:"details"`
	} `json:"error"`
}

// detail is one of the typed details; fields of other types are left empty.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		QuotaID    string `json:"quotaId"`
		QuotaValue string `json:"quotaValue"`
	} `json:"violations"`
}

// explain reads an error answer; some gateways wrap it in an array.
func explain(a *post.Answer) (post.Fault, bool) {
	var said status
	if !post.One(a.Body, &said) || said.Error == nil {
		return post.Fault{}, false
	}
	f := post.Fault{}
	var quotas []string // first, since the message is long and is cut
	if said.Error.Status == "FAILED_PRECONDITION" {
		f.Code, f.Advice = media.CodeForbidden, "turn on billing in Google AI Studio, or use it from a supported country"
	}
	for _, d := range said.Error.Details {
		if d.Reason == "API_KEY_INVALID" {
			f.Code, f.Advice = media.CodeUnauthorized, ""
		}
		// RetryInfo: seconds with a trailing s.
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			f.Wait = max(wait, 0)
		}
		for _, v := range d.Violations {
			quotas = append(quotas, v.QuotaID+" of "+v.QuotaValue+": ")
			if a.Status == http.StatusTooManyRequests && v.QuotaValue == "0" { // no wait makes it more
				f.Code = media.CodeQuotaExceeded
			}
		}
	}
	f.Words = strings.Join(quotas, "") + said.Error.Message
	return f, true
}
