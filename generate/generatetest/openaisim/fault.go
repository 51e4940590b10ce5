package openaisim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/internal/sim"
)

// problem is an error in OpenAI's envelope.
type problem struct {
	Message    string   `json:"message"`
	Type       string   `json:"type"`
	Param      *string  `json:"param"`
	Code       *string  `json:"code"`
	Moderation *verdict `json:"moderation_details,omitempty"`
}

type verdict struct {
	Stage      string   `json:"moderation_stage"`
	Categories []string `json:"categories"`
}

func (p problem) answer(status int) *sim.Answer {
	return &sim.Answer{Status: status, Body: map[string]problem{"error": p}}
}

// orNull returns nil for an empty text, which JSON encodes as null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func newProblem(status int, kind, code, message string) *sim.Answer {
	return problem{Message: message, Type: kind, Code: orNull(code)}.answer(status)
}

func badRequest(param, code, message string) *sim.Answer {
	return problem{Message: message, Type: "invalid_request_error", Param: orNull(param), Code: orNull(code)}.answer(http.StatusBadRequest)
}

func invalidValue(param, value string, want []string) *sim.Answer {
	return badRequest(param, "invalid_value",
		fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", value, strings.Join(want, "', '")))
}

func noModel(name string) *sim.Answer {
	return problem{
		Message: fmt.Sprintf("The model '%s' does not exist.", name), Type: "image_generation_user_error", Param: orNull("model"), Code: orNull("invalid_value"),
	}.answer(http.StatusBadRequest)
}

func unverified(name string, status int) *sim.Answer {
	return newProblem(status, "invalid_request_error", "", fmt.Sprintf(
		"Your organization must be verified to use the model `%s`. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.", name))
}

// stamp adds the id of a call.
func stamp(h http.Header, call int) { h.Set("X-Request-Id", requestID(call)) }

func requestID(call int) string { return fmt.Sprintf("req_%08d", call) }

// script returns the provider's answers to faults.
func script(c *sim.Call) sim.Script {
	badKey := newProblem(http.StatusUnauthorized, "invalid_request_error", "invalid_api_key",
		"Incorrect API key provided: sk-wrong*****************key. You can find your API key at https://platform.openai.com/account/api-keys.")
	badKey.Header = map[string]string{"Www-Authenticate": `Bearer realm="OpenAI API"`}
	return sim.Script{
		sim.FaultUnauthorized: {*badKey},
		sim.FaultForbidden:    {*unverified("gpt-image-2", http.StatusForbidden), *unverified("gpt-image-2", http.StatusBadRequest)},
		sim.FaultDeadModel: {
			*noModel("gpt-image-1"),
			*newProblem(http.StatusNotFound, "invalid_request_error", "model_not_found", "The model `gpt-image-1` has been deprecated."),
		},
		sim.FaultRateLimit: rateLimit(c.Fault),
		sim.FaultQuota: {*newProblem(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota",
			"You exceeded your current quota, please check your plan and billing details.")},
		sim.FaultInvalid:     {*badRequest("prompt", "invalid_value", "Invalid 'prompt': the value cannot be used.")},
		sim.FaultConflict:    {*newProblem(http.StatusConflict, "invalid_request_error", "conflict", "Another request holds this resource.")},
		sim.FaultServerError: {*newProblem(http.StatusInternalServerError, "server_error", "", "The server had an error while processing your request. Sorry about that!")},
		sim.FaultOverloaded:  {*newProblem(http.StatusServiceUnavailable, "server_error", "", "The engine is currently overloaded, please try again later.")},
		sim.FaultModerated:   moderated(requestID(c.Number)),
		sim.FaultNotMedia:    sim.DeferredVariants(2),
		sim.FaultPrivateURL:  sim.DeferredVariants(2),
	}
}

// rateLimit returns status 429: the wait is in retry headers, or only in the reset headers.
func rateLimit(f sim.Injection) []sim.Answer {
	var headers [2]map[string]string
	switch {
	case f.RetryAfter <= 0:
	case f.RetryAfter%time.Second == 0:
		headers[0] = sim.RetryAfter(f)
	default:
		headers[0] = map[string]string{"Retry-After-Ms": strconv.FormatInt(f.RetryAfter.Milliseconds(), 10)}
	}
	if f.RetryAfter > 0 {
		headers[1] = map[string]string{ //nolint:gosec // Not real credentials.
			"X-Ratelimit-Limit-Requests": "5", "X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": f.RetryAfter.String(),
			"X-Ratelimit-Remaining-Tokens": "90000", "X-Ratelimit-Reset-Tokens": "1h9m7.077s",
		}
	}
	var shapes []sim.Answer
	for _, h := range headers {
		p := newProblem(http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached for images per minute. Limit 5/1min.")
		p.Header = h
		shapes = append(shapes, *p)
	}
	return shapes
}

// moderated returns a refusal: with details, without, and with the message of older models.
func moderated(id string) []sim.Answer {
	const kind, code = "image_generation_user_error", "moderation_blocked"
	message := "Your request was rejected by the safety system. If you believe this is an error, contact us at help.openai.com and include the request ID " + id + ". safety_violations=[sexual]."
	detailed := problem{Message: message, Type: kind, Code: orNull(code), Moderation: &verdict{Stage: "output", Categories: []string{"sexual", "violence"}}}
	return []sim.Answer{
		*detailed.answer(http.StatusBadRequest),
		*newProblem(http.StatusBadRequest, kind, code, message),
		*newProblem(http.StatusBadRequest, "invalid_request_error", "content_policy_violation",
			"Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system."),
	}
}
