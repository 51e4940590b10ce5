package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"atelier/generate"
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
	Reason     string      `json:"reason"`
	RetryDelay string      `json:"retryDelay"`
	Violations []violation `json:"violations"`
}

type violation struct {
	QuotaID    string `json:"quotaId"`
	QuotaValue string `json:"quotaValue"`
}

// refused turns an answer that is not a 200 into the one error vocabulary.
func (d *Driver) refused(ctx context.Context, t generate.Task, a *post.Answer) error {
	if ctx.Err() != nil {
		return d.client.Ended(ctx, true)
	}
	said, ok := envelope(a.Body)
	if !ok {
		return d.client.NotJSON(a)
	}
	message := d.client.Clean(said.Error.Message)
	switch {
	case said.reason() == "API_KEY_INVALID" || a.Status == http.StatusUnauthorized:
		return media.Errorf(media.CodeUnauthorized, "Gemini refused the key: check GEMINI_API_KEY or GOOGLE_API_KEY (aistudio.google.com/apikey)")
	case a.Status == http.StatusTooManyRequests:
		return said.tooMany(message)
	case a.Status == http.StatusNotFound:
		return media.Errorf(media.CodeNotFound, "Gemini has no model %s for this, or has it no longer: choose one that \"atelier models list\" shows as live", t.Model.APIModel)
	case a.Status == http.StatusForbidden:
		return media.Errorf(media.CodeForbidden, "Gemini does not let this key use %s: check the key's project and its restrictions (%s)", t.Model.APIModel, message)
	case a.Status == http.StatusConflict:
		return media.Errorf(media.CodeConflict, "Gemini stopped the request for %s because another one was in its way: ask again (%s)", t.Model.APIModel, message)
	case said.Error.Status == "FAILED_PRECONDITION":
		return media.Errorf(media.CodeForbidden, "Gemini is not open to this project: turn on billing in Google AI Studio, or use it from a supported country (%s)", message)
	case a.Status >= http.StatusInternalServerError:
		e := media.Errorf(media.CodeUnavailable, "Gemini failed with status %d: try again later (%s)", a.Status, message)
		e.RetryAfter = said.delay()
		switch a.Status {
		case http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		default:
			e.Retryable = false
		}
		return e
	}
	return media.Errorf(media.CodeInvalid, "Gemini refused the request for %s: %s", t.Model.APIModel, message)
}

// envelope reads the status; some gateways wrap it in an array.
func envelope(body []byte) (status, bool) {
	var one status
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var many []status
		if err := json.Unmarshal(body, &many); err == nil && len(many) > 0 {
			one = many[0]
		}
	} else if err := json.Unmarshal(body, &one); err != nil {
		return status{}, false
	}
	return one, one.Error != nil
}

func (s status) reason() string {
	for _, d := range s.Error.Details {
		if d.Reason != "" {
			return d.Reason
		}
	}
	return ""
}

// delay is RetryInfo's: seconds with a trailing s. 0 if there is none.
func (s status) delay() time.Duration {
	for _, d := range s.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			return max(wait, 0)
		}
	}
	return 0
}

// tooMany tells a limit that passes in seconds from one that does not.
func (s status) tooMany(message string) *media.Error {
	for _, d := range s.Error.Details {
		for _, v := range d.Violations {
			if v.QuotaValue == "0" || strings.Contains(v.QuotaID, "PerDay") {
				return media.Errorf(media.CodeQuotaExceeded, "the Gemini quota is used up for today or is zero: turn on billing or raise it in Google AI Studio (%s)", message)
			}
		}
	}
	e := media.Errorf(media.CodeRateLimited, "Gemini's rate limit is reached: wait and try again (%s)", message)
	e.RetryAfter = s.delay()
	return e
}
