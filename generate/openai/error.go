package openai

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// apiError is the inside of OpenAI's error envelope. Any field may be null; code is
// a number on some compatible servers.
type apiError struct {
	Message    string    `json:"message"`
	Type       string    `json:"type"`
	Param      string    `json:"param"`
	Code       post.Text `json:"code"`
	Moderation *struct {
		Stage      string   `json:"moderation_stage"`
		Categories []string `json:"categories"`
	} `json:"moderation_details"`
}

// phrases are the words of the envelope that say more than the status.
var phrases = post.Phrases{
	{Any: []string{"insufficient_quota", "billing_hard_limit_reached", "used all available credits", "spending limit", "any credits"}, Code: media.CodeQuotaExceeded},
	{Any: []string{"rate_limit_exceeded"}, Code: media.CodeRateLimited},
	{Any: []string{"invalid_api_key", "incorrect api key provided"}, Code: media.CodeUnauthorized},
	{Any: []string{"rejected by content moderation"}, Code: media.CodeModerated},
	{Any: []string{"must be verified"}, Code: media.CodeForbidden, Advice: "open platform.openai.com/settings/organization/general, choose Verify Organization, wait up to 15 minutes, then try again; or use another model (atelier models list)"},
	{Any: []string{"model_not_found", "setting:model;"}, Code: media.CodeNotFound},
}

// explain reads an error answer. Some services, xAI among them, say the error in a text, with
// its name beside it.
func explain(a *post.Answer) (post.Fault, bool) {
	var flat struct {
		Code  post.Text `json:"code"`
		Error string    `json:"error"`
	}
	if json.Unmarshal(a.Body, &flat) == nil && flat.Error != "" {
		e := apiError{Message: flat.Error, Code: flat.Code}
		return e.fault(a.Status), true
	}
	var envelope struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil || envelope.Error == nil {
		return post.Fault{}, false
	}
	return envelope.Error.fault(a.Status), true
}

// fault says what an error means. A stream's error has status 200 and is judged by its
// words alone.
func (e *apiError) fault(status int) post.Fault {
	f := post.Fault{Words: e.Message, Label: string(e.Code) + " " + e.Type + " setting:" + e.Param + ";"}
	switch {
	case e.Code == "moderation_blocked" || e.Code == "content_policy_violation":
		f.Blocked = e.verdict()
	case e.Param == "" || e.Param == "model" || status == http.StatusTooManyRequests || status == http.StatusUnauthorized || status >= http.StatusInternalServerError:
	default:
		f.Words += " (setting " + e.Param + ")"
		if status == http.StatusNotFound {
			f.Code = media.CodeInvalid
		}
	}
	return f
}

// safetyViolations is how refusals without details name the categories.
var safetyViolations = regexp.MustCompile(`safety_violations=\[([^\]]*)\]`)

// verdict is what the safety system says about a refusal.
func (e *apiError) verdict() *generate.Safety {
	if e.Moderation != nil {
		return &generate.Safety{Stage: e.Moderation.Stage, Categories: e.Moderation.Categories}
	}
	s := &generate.Safety{}
	if m := safetyViolations.FindStringSubmatch(e.Message); m != nil {
		s.Categories = strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
	}
	return s
}
