package bflsim

import (
	"io"
	"math"
	"net/http"
	"strconv"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// Variants tells how many shapes a fault has here.
func (s *Simulator) Variants(f generatetest.Fault) int {
	if s.Absent(f) != "" {
		return 0
	}
	switch f {
	case generatetest.FaultModerated, generatetest.FaultTaskFailed:
		return 3
	case generatetest.FaultUnauthorized, generatetest.FaultQuota, generatetest.FaultRateLimit, generatetest.FaultInvalid,
		generatetest.FaultEmpty, generatetest.FaultNotMedia, generatetest.FaultPrivateURL, generatetest.FaultTaskLost:
		return 2
	default:
		return 1
	}
}

// Absent says which faults there are none of.
func (s *Simulator) Absent(f generatetest.Fault) string {
	switch f {
	case generatetest.FaultPartialsThenError, generatetest.FaultPreviewLost:
		return "answers are not streamed"
	case generatetest.FaultForbidden:
		return "a key may use every model, and 403 means that the key is bad"
	case generatetest.FaultConflict:
		return "the API documents no 409"
	case generatetest.FaultPartialN:
		return "a task makes one picture"
	case generatetest.FaultListLost:
		return "the provider lists no tasks"
	default:
		return ""
	}
}

// answerFault answers the faults that come before a task is made. It reports false
// if the call is to go on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, f generatetest.Injection) bool {
	second := f.Variant%2 == 1
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		if second {
			detail(w, http.StatusUnauthorized, "Not authenticated")
			break
		}
		detail(w, http.StatusForbidden, "Not authenticated - Invalid Authentication")
	case generatetest.FaultDeadModel:
		detail(w, http.StatusNotFound, "Not Found")
	case generatetest.FaultRateLimit:
		tooMany(w, f, second)
	case generatetest.FaultQuota:
		if second {
			write(w, http.StatusPaymentRequired, map[string]string{"error": "insufficient_credits", "message": "You do not have enough credits."})
			break
		}
		detail(w, http.StatusPaymentRequired, "Insufficient credits. Please add credits to continue.")
	case generatetest.FaultServerError:
		detail(w, http.StatusInternalServerError, "Internal Server Error")
	case generatetest.FaultOverloaded:
		detail(w, http.StatusServiceUnavailable, "Service under maintenance")
	case generatetest.FaultInvalid:
		if second {
			detail(w, http.StatusBadRequest, "Bad request")
			break
		}
		write(w, http.StatusUnprocessableEntity, map[string]any{"detail": wrong("width", "multiple_of", "Input should be a multiple of 16")})
	case generatetest.FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "upstream said: {]")
	case generatetest.FaultDropped:
		panic(http.ErrAbortHandler)
	case generatetest.FaultSlow:
		return !simulate.Wait(r, f.Delay)
	default:
		return false
	}
	return true
}

// tooMany is 429: the wait is in the header, or in the body of the newer shape.
func tooMany(w http.ResponseWriter, f generatetest.Injection, newer bool) {
	seconds := int(math.Ceil(f.RetryAfter.Seconds()))
	if newer {
		body := map[string]any{"error": "rate_limit_exceeded", "message": "Too many requests"}
		if seconds > 0 {
			body["retry_after"] = seconds
		}
		write(w, http.StatusTooManyRequests, body)
		return
	}
	if seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	w.Header().Set("X-Ratelimit-Remaining", "0")
	detail(w, http.StatusTooManyRequests, "Too many active tasks")
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

// failure is a task that ended without a picture.
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
