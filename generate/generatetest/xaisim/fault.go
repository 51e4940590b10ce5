package xaisim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// problem is an error answer: a text with a name beside it.
type problem struct {
	status int
	header http.Header
	Code   string `json:"code"`
	Error  string `json:"error"`
}

func newProblem(status int, code, text string) *problem {
	return &problem{status: status, header: http.Header{}, Code: code, Error: text}
}

func noModel(id string) *problem {
	return newProblem(http.StatusNotFound, "not-found", fmt.Sprintf("The model %s does not exist or your team does not have access to it.", id))
}

func (p *problem) write(w http.ResponseWriter) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(p)
}

// unauthorized is 400 here, not 401.
func unauthorized() *problem {
	return newProblem(http.StatusBadRequest, "invalid-argument", "Incorrect API key provided: xa***ey. You can obtain an API key from https://console.x.ai.")
}

// Variants tells how many shapes a fault has here.
func (s *Simulator) Variants(f generatetest.Fault) int {
	if s.Absent(f) != "" {
		return 0
	}
	switch f {
	case generatetest.FaultModerated, generatetest.FaultQuota, generatetest.FaultInvalid, generatetest.FaultPrivateURL, generatetest.FaultNotMedia:
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
	case generatetest.FaultTaskFailed, generatetest.FaultTaskLost, generatetest.FaultPollFails,
		generatetest.FaultAnswerLost, generatetest.FaultListLost:
		return "calls are answered at once: there are no tasks"
	case generatetest.FaultExpiredLink, generatetest.FaultHalfLink:
		return "pictures are asked for as data, not by link"
	default:
		return ""
	}
}

// answerFault answers the faults that come in place of a picture. It reports false if the
// call is to go on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, f generatetest.Injection) bool {
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		unauthorized().write(w)
	case generatetest.FaultForbidden:
		newProblem(http.StatusForbidden, "permission-denied", "The caller does not have permission to execute the specified operation").write(w)
	case generatetest.FaultDeadModel:
		noModel("grok-imagine-image-quality").write(w)
	case generatetest.FaultRateLimit:
		p := newProblem(http.StatusTooManyRequests, "resource-exhausted", "Too many requests for team. Your limit is 300 requests per minute.")
		if f.RetryAfter > 0 {
			p.header.Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
		}
		p.write(w)
	case generatetest.FaultQuota:
		status := []int{http.StatusForbidden, http.StatusTooManyRequests}[f.Variant%2]
		newProblem(status, "permission-denied", "Your team has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.").write(w)
	case generatetest.FaultInvalid:
		s.invalid(w, f.Variant)
	case generatetest.FaultConflict:
		newProblem(http.StatusConflict, "aborted", "Another request holds this resource.").write(w)
	case generatetest.FaultServerError:
		newProblem(http.StatusInternalServerError, "internal", "Internal server error").write(w)
	case generatetest.FaultOverloaded:
		newProblem(http.StatusServiceUnavailable, "unavailable", "The service is currently unavailable").write(w)
	case generatetest.FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "upstream said: {]")
	case generatetest.FaultDropped:
		panic(http.ErrAbortHandler)
	case generatetest.FaultModerated:
		if f.Variant%2 == 0 {
			return false // made and held back
		}
		newProblem(http.StatusBadRequest, "invalid-argument", "Generated image rejected by content moderation.").write(w)
	case generatetest.FaultSlow:
		return !simulate.Wait(r, f.Delay)
	default:
		return false
	}
	return true
}

// invalid refuses a request, in the provider's own form or in OpenAI's, as some routes do.
func (s *Simulator) invalid(w http.ResponseWriter, variant int) {
	if variant%2 == 0 {
		newProblem(http.StatusBadRequest, "invalid-argument", "The prompt cannot be used.").write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_, _ = io.WriteString(w, `{"error":{"message":"The prompt cannot be used.","type":"invalid_request_error","param":null,"code":null}}`)
}
