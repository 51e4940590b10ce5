package leonardosim

import (
	"net/http"

	"atelier/internal/sim"
)

// fail returns an error: flat, with a text.
func fail(status int, code, text string) sim.Answer {
	return sim.Answer{Status: status, Body: map[string]string{"error": text, "path": "$", "code": code}}
}

// script returns the provider's answers to faults.
func script(c *sim.Call) sim.Script {
	tooMany := fail(http.StatusTooManyRequests, "unexpected", "Too many requests")
	tooMany.Header = sim.RetryAfter(c.Fault)
	return sim.Script{
		sim.FaultUnauthorized: { // two messages, one of them also as a server error
			fail(http.StatusUnauthorized, "access-denied", "Authentication hook unauthorized this request"),
			fail(http.StatusInternalServerError, "unexpected", "Invalid response from authorization hook"),
			fail(http.StatusUnauthorized, "unexpected", "Invalid response from authorization hook"),
		},
		sim.FaultForbidden:   {fail(http.StatusForbidden, "forbidden", "This feature is not part of your API plan"), sim.HTML(http.StatusForbidden)},
		sim.FaultDeadModel:   {fail(http.StatusBadRequest, "not-exists", "model not found")},
		sim.FaultRateLimit:   {tooMany},
		sim.FaultQuota:       {fail(http.StatusBadRequest, "unexpected", "not enough tokens"), fail(http.StatusPaymentRequired, "unexpected", "insufficient credits")},
		sim.FaultServerError: {fail(http.StatusInternalServerError, "unexpected", "internal error")},
		sim.FaultOverloaded:  {fail(http.StatusServiceUnavailable, "unexpected", "service unavailable")},
		sim.FaultInvalid: { // in the old format and in that of version 2
			fail(http.StatusBadRequest, "validation-failed", "width must be a multiple of 8"),
			fail(http.StatusBadRequest, "parse-failed", "expected an object"),
			{Status: http.StatusBadRequest, Body: []map[string]any{{"message": "width must be a multiple of 8", "extensions": map[string]string{"code": "BAD_USER_INPUT"}}}},
		},
		sim.FaultModerated:  {fail(http.StatusBadRequest, "unexpected", "moderation: prompt contains disallowed words")},
		sim.FaultListLost:   sim.DeferredVariants(5),
		sim.FaultNotMedia:   sim.DeferredVariants(2),
		sim.FaultPrivateURL: sim.DeferredVariants(2),
	}
}

// refuse returns the refusal of a missing or wrong key.
func refuse(r *http.Request) sim.Answer {
	shapes := script(&sim.Call{Request: r})[sim.FaultUnauthorized]
	if r.Header.Get("Authorization") == "" {
		return shapes[0]
	}
	return shapes[1]
}
