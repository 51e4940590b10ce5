package xaisim

import (
	"fmt"
	"net/http"

	"atelier/internal/sim"
)

// newProblem returns an error answer: flat, with a code and a text.
func newProblem(status int, code, text string) *sim.Answer {
	return &sim.Answer{Status: status, Body: map[string]string{"code": code, "error": text}}
}

func noModel(id string) *sim.Answer {
	return newProblem(http.StatusNotFound, "not-found", fmt.Sprintf("The model %s does not exist or your team does not have access to it.", id))
}

// script returns the provider's answers to faults; a wrong key is 400 here, not 401.
func script(c *sim.Call) sim.Script {
	tooMany := newProblem(http.StatusTooManyRequests, "resource-exhausted", "Too many requests for team. Your limit is 300 requests per minute.")
	tooMany.Header = sim.RetryAfter(c.Fault)
	quota := func(status int) sim.Answer {
		return *newProblem(status, "permission-denied", "Your team has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.")
	}
	return sim.Script{
		sim.FaultUnauthorized: {*newProblem(http.StatusBadRequest, "invalid-argument", "Incorrect API key provided: xa***ey. You can obtain an API key from https://console.x.ai.")},
		sim.FaultForbidden:    {*newProblem(http.StatusForbidden, "permission-denied", "The caller does not have permission to execute the specified operation")},
		sim.FaultDeadModel:    {*noModel("grok-imagine-image-quality")},
		sim.FaultRateLimit:    {*tooMany},
		sim.FaultQuota:        {quota(http.StatusForbidden), quota(http.StatusTooManyRequests)},
		sim.FaultInvalid: { // in the provider's format, or in OpenAI's, as on some routes
			*newProblem(http.StatusBadRequest, "invalid-argument", "The prompt cannot be used."),
			{Status: http.StatusUnprocessableEntity, Body: `{"error":{"message":"The prompt cannot be used.","type":"invalid_request_error","param":null,"code":null}}`},
		},
		sim.FaultConflict:    {*newProblem(http.StatusConflict, "aborted", "Another request holds this resource.")},
		sim.FaultServerError: {*newProblem(http.StatusInternalServerError, "internal", "Internal server error")},
		sim.FaultOverloaded:  {*newProblem(http.StatusServiceUnavailable, "unavailable", "The service is currently unavailable")},
		sim.FaultModerated: { // made and withheld, or refused
			{},
			*newProblem(http.StatusBadRequest, "invalid-argument", "Generated image rejected by content moderation."),
		},
		sim.FaultPrivateURL: sim.DeferredVariants(2),
		sim.FaultNotMedia:   sim.DeferredVariants(2),
	}
}
