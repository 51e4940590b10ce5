package bflsim

import (
	"encoding/json"
	"net/http"

	"atelier/internal/sim"
)

// detail is an error with one text or with the violations of the schema.
func detail(status int, what any) sim.Answer {
	return sim.Answer{Status: status, Body: map[string]any{"detail": what}}
}

// script returns the provider's answers to faults; a wrong key is 403, not 401.
func script(c *sim.Call) sim.Script {
	tooMany := detail(http.StatusTooManyRequests, "Too many active tasks")
	tooMany.Header = map[string]string{"X-Ratelimit-Remaining": "0"}
	newer := map[string]any{"error": "rate_limit_exceeded", "message": "Too many requests"}
	for name, seconds := range sim.RetryAfter(c.Fault) {
		tooMany.Header[name], newer["retry_after"] = seconds, json.Number(seconds)
	}
	return sim.Script{
		sim.FaultUnauthorized: {detail(http.StatusForbidden, "Not authenticated - Invalid Authentication"), detail(http.StatusUnauthorized, "Not authenticated")},
		sim.FaultDeadModel:    {detail(http.StatusNotFound, "Not Found")},
		sim.FaultRateLimit:    {tooMany, {Status: http.StatusTooManyRequests, Body: newer}}, // the wait is in the header or in the body
		sim.FaultQuota: {
			detail(http.StatusPaymentRequired, "Insufficient credits. Please add credits to continue."),
			{Status: http.StatusPaymentRequired, Body: map[string]string{"error": "insufficient_credits", "message": "You do not have enough credits."}},
		},
		sim.FaultServerError: {detail(http.StatusInternalServerError, "Internal Server Error")},
		sim.FaultOverloaded:  {detail(http.StatusServiceUnavailable, "Service under maintenance")},
		sim.FaultInvalid: {
			detail(http.StatusUnprocessableEntity, wrong("width", "multiple_of", "Input should be a multiple of 16")),
			detail(http.StatusBadRequest, "Bad request"),
		},
		sim.FaultModerated:  sim.DeferredVariants(3),
		sim.FaultTaskFailed: sim.DeferredVariants(3),
		sim.FaultEmpty:      sim.DeferredVariants(2),
		sim.FaultNotMedia:   sim.DeferredVariants(2),
		sim.FaultPrivateURL: sim.DeferredVariants(2),
		sim.FaultTaskLost:   sim.DeferredVariants(2),
	}
}

// refusal is a moderated task: before the work, after it, and with reasons.
func refusal(id string, variant int) map[string]any {
	switch variant % 3 {
	case 0:
		return state(id, "Request Moderated", nil, nil)
	case 1:
		return state(id, "Content Moderated", nil, nil)
	}
	return state(id, "Request Moderated", nil, map[string]any{"Moderation Reasons": []string{"Derivative Works Filter"}})
}

// failure is a task that failed.
func failure(id string, variant int) map[string]any {
	body := state(id, "Error", nil, nil)
	switch variant % 3 {
	case 1:
		body["error"], body["message"] = "generation_failed", "The worker ran out of memory."
	case 2:
		body = state(id, "Failed", nil, map[string]any{"error": "worker lost"})
	}
	return body
}
