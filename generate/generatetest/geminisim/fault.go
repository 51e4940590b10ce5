package geminisim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/internal/sim"
)

// status is an error: a google.rpc.Status.
type status struct {
	Code    int              `json:"code"`
	Message string           `json:"message"`
	Status  string           `json:"status"`
	Details []map[string]any `json:"details,omitempty"`
}

func newProblem(code int, name, message string, details ...map[string]any) *sim.Answer {
	return &sim.Answer{Status: code, Type: jsonType, Body: map[string]status{"error": {code, message, name, details}}}
}

// jsonType is the content type of the answers.
const jsonType = "application/json; charset=UTF-8"

func invalid(message string) *sim.Answer {
	return newProblem(http.StatusBadRequest, "INVALID_ARGUMENT", message)
}

func notFound(name string) *sim.Answer {
	return newProblem(http.StatusNotFound, "NOT_FOUND", fmt.Sprintf(
		"models/%s is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.", name))
}

// badKey returns status 400: this API does not answer 401 to a wrong key.
func badKey() *sim.Answer {
	return newProblem(http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
		map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
			"metadata": map[string]string{"service": "generativelanguage.googleapis.com"},
		},
		map[string]any{
			"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": "API key not valid. Please pass a valid API key.",
		})
}

// script returns the provider's answers to faults.
func script(c *sim.Call) sim.Script {
	name, _ := split(c)
	return sim.Script{
		sim.FaultUnauthorized: {*badKey(), *newProblem(http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")},
		sim.FaultInvalid:      {*newProblem(http.StatusBadRequest, "INVALID_ARGUMENT", "Request contains an invalid argument.")},
		sim.FaultConflict:     {*newProblem(http.StatusConflict, "ABORTED", "The operation was aborted.")},
		sim.FaultForbidden: {
			*newProblem(http.StatusForbidden, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."),
			*newProblem(http.StatusBadRequest, "FAILED_PRECONDITION", "User location is not supported for the API use."),
		},
		sim.FaultDeadModel: {*notFound(name)},
		sim.FaultRateLimit: {*tooMany(c.Fault)},
		sim.FaultQuota:     {*quota(false), *quota(true)},
		sim.FaultServerError: {
			*newProblem(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred. Please retry."),
			*newProblem(http.StatusGatewayTimeout, "DEADLINE_EXCEEDED", "The service was unable to finish processing within the deadline."),
		},
		sim.FaultOverloaded: {*newProblem(http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later.")},
		sim.FaultModerated:  refusals(),
		sim.FaultNotMedia:   sim.DeferredVariants(2),
	}
}

// split returns the model and the method that a path names.
func split(c *sim.Call) (name, method string) {
	name, method, _ = strings.Cut(c.PathValue("call"), ":")
	return name, method
}

// refusals returns the variants of a success without a picture. All have status 200.
func refusals() (shapes []sim.Answer) {
	const usage = `,"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},"modelVersion":"gemini-3-pro-image"}`
	for _, body := range []string{
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","probability":"HIGH","blocked":true},{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}]}` + usage,
		`{"candidates":[{"finishReason":"IMAGE_SAFETY","index":0}]` + usage,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"I can't make this one."}]},"finishReason":"NO_IMAGE","index":0}]` + usage,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"I'm unable to draw a real person in this scene."}]},"finishReason":"STOP","index":0}]` + usage,
		`{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"IMAGE_PROHIBITED_CONTENT","finishMessage":"Unable to show the generated image.","index":0,"safetyRatings":[{"category":"HARM_CATEGORY_IMAGE_HATE","probability":"HIGH","blocked":true}]}]` + usage,
		`{"candidates":[{"content":{"role":"model"},"finishReason":"NO_IMAGE","index":0}]` + usage,
		`{"promptFeedback":{"blockReason":"MODEL_ARMOR","blockReasonMessage":"Blocked by a Model Armor template of the project."}` + usage,
		`{"candidates":[{"content":{},"finishReason":"IMAGE_OTHER","finishMessage":"The image was not generated. Try rephrasing the prompt.","index":0}]` + usage,
	} {
		shapes = append(shapes, sim.Answer{Type: jsonType, Body: body})
	}
	return shapes
}

// tooMany returns status 429. The wait is in RetryInfo; there is no Retry-After header. Without a wait, it is
// the plain answer of an overloaded project.
func tooMany(f sim.Injection) *sim.Answer {
	if f.RetryAfter == 0 {
		return newProblem(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
	}
	return exhausted(f.RetryAfter,
		violation{"GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "10"},
		violation{"GenerateContentInputTokensPerModelPerMinute-FreeTier", "generate_content_free_tier_input_token_count", "250000"})
}

// quota also returns status 429: the daily limit beside the one per minute, or a limit of zero without billing.
func quota(zero bool) *sim.Answer {
	if zero {
		return exhausted(34400*time.Millisecond, violation{"GenerateContentInputTokensPerModelPerMinute-FreeTier", "generate_content_free_tier_input_token_count", "0"})
	}
	return exhausted(36*time.Second,
		violation{"GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "10"},
		violation{"GenerateRequestsPerDayPerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "250"})
}

// violation is a quota that a call exceeds: its id, its metric and its value.
type violation struct{ id, metric, value string }

// exhausted returns an error with quotas and a wait, in the message and in the details.
func exhausted(wait time.Duration, of ...violation) *sim.Answer {
	message := "You exceeded your current quota, please check your plan and billing details. For more information on this error, head over to: https://ai.google.dev/gemini-api/docs/rate-limits. "
	var list []map[string]any
	for _, v := range of {
		metric := "generativelanguage.googleapis.com/" + v.metric
		message += "\n* Quota exceeded for metric: " + metric + ", limit: " + v.value + ", model: gemini-3-pro-image"
		entry := map[string]any{
			"quotaMetric": metric, "quotaId": v.id, "quotaDimensions": map[string]string{"location": "global", "model": "gemini-3-pro-image"},
		}
		if v.value != "0" { // a zero is only in the message
			entry["quotaValue"] = v.value
		}
		list = append(list, entry)
	}
	seconds := strconv.FormatFloat(wait.Seconds(), 'f', -1, 64) + "s"
	return newProblem(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", message+"\nPlease retry in "+seconds+".",
		map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": list},
		map[string]any{
			"@type": "type.googleapis.com/google.rpc.Help",
			"links": []map[string]any{{"description": "Learn more about Gemini API quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}},
		},
		map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds})
}

// Idle reports true for a deadline error, which is repeated, and for a daily quota that says how long to wait.
func (s *Simulator) Idle(in sim.Injection) bool {
	return in.Fault == sim.FaultServerError && in.Variant%2 == 1 || in.Fault == sim.FaultQuota && in.Variant%2 == 0
}
