package leonardosim

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
	case generatetest.FaultListLost:
		return 5
	case generatetest.FaultUnauthorized, generatetest.FaultInvalid:
		return 3
	case generatetest.FaultForbidden, generatetest.FaultQuota, generatetest.FaultNotMedia, generatetest.FaultPrivateURL:
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
	case generatetest.FaultConflict:
		return "the API documents no 409"
	case generatetest.FaultExpiredLink:
		return "links are public and do not expire"
	default:
		return ""
	}
}

// answerFault answers the faults that come before a generation is made. It reports
// false if the call is to go on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, f generatetest.Injection) bool {
	second := f.Variant%2 == 1
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		unauthorized(w, f.Variant%3)
	case generatetest.FaultForbidden:
		if second {
			page(w, http.StatusForbidden)
			break
		}
		fail(w, http.StatusForbidden, "forbidden", "This feature is not part of your API plan")
	case generatetest.FaultDeadModel:
		fail(w, http.StatusBadRequest, "not-exists", "model not found")
	case generatetest.FaultRateLimit:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
		fail(w, http.StatusTooManyRequests, "unexpected", "Too many requests")
	case generatetest.FaultQuota:
		if second {
			fail(w, http.StatusPaymentRequired, "unexpected", "insufficient credits")
			break
		}
		fail(w, http.StatusBadRequest, "unexpected", "not enough tokens")
	case generatetest.FaultServerError:
		fail(w, http.StatusInternalServerError, "unexpected", "internal error")
	case generatetest.FaultOverloaded:
		fail(w, http.StatusServiceUnavailable, "unexpected", "service unavailable")
	case generatetest.FaultInvalid:
		wrong(w, f.Variant%3)
	case generatetest.FaultModerated:
		fail(w, http.StatusBadRequest, "unexpected", "moderation: prompt contains disallowed words")
	case generatetest.FaultHTML:
		page(w, http.StatusOK)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
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

// unauthorized is the refusal of a key: two texts, one of them as an error of the server.
func unauthorized(w http.ResponseWriter, variant int) {
	switch variant {
	case 0:
		fail(w, http.StatusUnauthorized, "access-denied", "Authentication hook unauthorized this request")
	case 1:
		fail(w, http.StatusInternalServerError, "unexpected", "Invalid response from authorization hook")
	default:
		fail(w, http.StatusUnauthorized, "unexpected", "Invalid response from authorization hook")
	}
}

// wrong is the refusal of a request, in the old shape and in that of version 2.
func wrong(w http.ResponseWriter, variant int) {
	switch variant {
	case 0:
		fail(w, http.StatusBadRequest, "validation-failed", "width must be a multiple of 8")
	case 1:
		fail(w, http.StatusBadRequest, "parse-failed", "expected an object")
	default:
		write(w, http.StatusBadRequest, []map[string]any{{"message": "width must be a multiple of 8", "extensions": map[string]string{"code": "BAD_USER_INPUT"}}})
	}
}
