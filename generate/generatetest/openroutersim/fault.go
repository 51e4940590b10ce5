package openroutersim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"atelier/internal/sim"
)

// problem is an error; its code is a number.
type problem struct {
	Message  string         `json:"message"`
	Code     int            `json:"code"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

func (p problem) answer() *sim.Answer {
	return &sim.Answer{Status: p.Code, Body: map[string]problem{"error": p}}
}

func newProblem(code int, message string) *sim.Answer {
	return problem{Message: message, Code: code}.answer()
}

// script returns the provider's answers to faults.
func (s *Simulator) script(c *sim.Call) sim.Script {
	var q struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal(c.Body, &q) // a fault precedes errors of the body
	all := sim.Script{
		sim.FaultUnauthorized: {*newProblem(http.StatusUnauthorized, "User not found.")},
		sim.FaultForbidden:    {*newProblem(http.StatusForbidden, "Key limit exceeded (total limit).")},
		sim.FaultDeadModel: {
			*newProblem(http.StatusBadRequest, q.Model+" is not a valid model ID"),
			*newProblem(http.StatusNotFound, "No endpoints found that support the requested output modalities: image, text"),
		},
		sim.FaultRateLimit: s.rateLimit(c.Fault),
		sim.FaultQuota: {*problem{
			Code: http.StatusPaymentRequired, Message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
			Metadata: map[string]any{"limit_source": "account"},
		}.answer()},
		sim.FaultInvalid:     {*newProblem(http.StatusBadRequest, "Invalid input")},
		sim.FaultConflict:    {*newProblem(http.StatusConflict, "The request conflicts with another one.")},
		sim.FaultServerError: {*newProblem(http.StatusInternalServerError, "Internal Server Error")},
		sim.FaultOverloaded:  {*newProblem(http.StatusServiceUnavailable, "There is no available model provider that meets your routing requirements")},
		sim.FaultNotJSON:     {{Body: "\n\n  upstream said: {]"}},
		sim.FaultModerated: { // before the model, and three kinds of success that are refusals
			flagged,
			say(`{"finish_reason":"content_filter","native_finish_reason":"IMAGE_SAFETY","index":0,"message":{"role":"assistant","content":"","images":[]}}`),
			say(`{"finish_reason":"stop","native_finish_reason":"stop","index":0,"message":{"role":"assistant","content":null,"refusal":"I can't help with that."}}`),
			say(`{"finish_reason":"stop","native_finish_reason":"stop","index":0,"message":{"role":"assistant","content":"I'm unable to draw a real person in this scene."}}`),
		},
		sim.FaultEmpty: {
			{},
			say(`{"finish_reason":"length","native_finish_reason":"MAX_TOKENS","index":0,"message":{"role":"assistant","content":null}}`),
		},
		sim.FaultNotMedia:   sim.DeferredVariants(2),
		sim.FaultPrivateURL: sim.DeferredVariants(2),
	}
	if c.URL != nil && strings.HasSuffix(c.URL.Path, "/images") {
		all[sim.FaultEmpty] = nil
		all[sim.FaultModerated] = []sim.Answer{flagged, {Body: `{"error":{"code":"403","message":"The output was flagged by the provider","metadata":{"reasons":["sexual"],"provider_name":"Simulated"}}}`}}
	}
	return all
}

// flagged is the refusal of a prompt.
var flagged = *problem{
	Code: http.StatusForbidden, Message: "Your chosen model requires moderation and your input was flagged",
	Metadata: map[string]any{"reasons": []string{"sexual"}, "flagged_input": "a lighthouse…", "provider_name": "Simulated"},
}.answer()

// rateLimit returns status 429: the wait is in a header, or the error contains the time of the reset.
func (s *Simulator) rateLimit(f sim.Injection) []sim.Answer {
	inHeader := newProblem(http.StatusTooManyRequests, "Rate limit exceeded: free-models-per-min")
	inHeader.Header = sim.RetryAfter(f)
	if f.RetryAfter <= 0 {
		return []sim.Answer{*inHeader, *inHeader}
	}
	reset := strconv.FormatInt(s.Now().Add(f.RetryAfter).UnixMilli(), 10)
	return []sim.Answer{*inHeader, *problem{
		Code:     http.StatusTooManyRequests,
		Message:  "Rate limit exceeded: limit_rpm/google/gemini-3-pro-image-preview/a4f5d9d2-9f4e-4d57-8b67-2f5ac3f5a1f0. High demand.",
		Metadata: map[string]any{"headers": map[string]string{"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}},
	}.answer()}
}

// say returns a success with one choice and no picture.
func say(choice string) sim.Answer {
	return sim.Answer{Body: "\n   \n" + `{"id":"gen-0","provider":"Simulated","model":"simulated","choices":[` + choice + `],"usage":{"prompt_tokens":9,"completion_tokens":0,"cost":0}}`}
}
