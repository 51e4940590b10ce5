package openroutersim

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

// problem is an error answer in OpenRouter's envelope; its code is a number.
type problem struct {
	header http.Header
	Error  struct {
		Message  string         `json:"message"`
		Code     int            `json:"code"`
		Metadata map[string]any `json:"metadata,omitempty"`
	} `json:"error"`
	User string `json:"user_id,omitempty"`
}

func newProblem(code int, message string) *problem {
	p := &problem{header: http.Header{}}
	p.Error.Code, p.Error.Message = code, message
	return p
}

// with adds metadata.
func (p *problem) with(name string, value any) *problem {
	if p.Error.Metadata == nil {
		p.Error.Metadata = map[string]any{}
	}
	p.Error.Metadata[name] = value
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Error.Code)
	_ = json.NewEncoder(w).Encode(p)
}

// Variants tells how many shapes a fault has here.
func (s *Simulator) Variants(f generatetest.Fault) int {
	if s.Absent(f) != "" {
		return 0
	}
	switch f {
	case generatetest.FaultModerated:
		return 4 // before the model, and three ways in which a success is none
	case generatetest.FaultDeadModel, generatetest.FaultRateLimit, generatetest.FaultNotMedia, generatetest.FaultPrivateURL, generatetest.FaultEmpty:
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
		return "pictures come in the answer; links are rare and do not expire"
	case generatetest.FaultPartialN:
		return "a call gives one picture"
	default:
		return ""
	}
}

// answerFault answers the faults that come in place of a picture. It reports false if
// the call is to go on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, q *request, f generatetest.Injection) bool {
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		newProblem(http.StatusUnauthorized, "User not found.").write(w)
	case generatetest.FaultForbidden:
		newProblem(http.StatusForbidden, "Key limit exceeded (total limit).").write(w)
	case generatetest.FaultDeadModel:
		p := newProblem(http.StatusBadRequest, q.Model+" is not a valid model ID")
		if f.Variant%2 == 1 {
			p = newProblem(http.StatusNotFound, "No endpoints found that support the requested output modalities: image, text")
		}
		p.write(w)
	case generatetest.FaultRateLimit:
		s.rateLimit(f).write(w)
	case generatetest.FaultQuota:
		newProblem(http.StatusPaymentRequired, "Insufficient credits. Add more using https://openrouter.ai/settings/credits").
			with("limit_source", "account").write(w)
	case generatetest.FaultInvalid:
		newProblem(http.StatusBadRequest, "Invalid input").write(w)
	case generatetest.FaultConflict:
		newProblem(http.StatusConflict, "The request conflicts with another one.").write(w)
	case generatetest.FaultServerError:
		newProblem(http.StatusInternalServerError, "Internal Server Error").write(w)
	case generatetest.FaultOverloaded:
		newProblem(http.StatusServiceUnavailable, "There is no available model provider that meets your routing requirements").write(w)
	case generatetest.FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "\n\n  upstream said: {]")
	case generatetest.FaultDropped:
		panic(http.ErrAbortHandler)
	case generatetest.FaultModerated:
		s.moderated(w, f.Variant)
	case generatetest.FaultSlow:
		return !simulate.Wait(r, f.Delay)
	case generatetest.FaultEmpty:
		if f.Variant%2 == 0 {
			return false
		}
		s.say(w, `{"finish_reason":"length","native_finish_reason":"MAX_TOKENS","index":0,"message":{"role":"assistant","content":null}}`)
	default:
		return false
	}
	return true
}

// rateLimit is 429. Variant 0 names the wait in a header, variant 1 the moment of the
// reset in headers that the error quotes.
func (s *Simulator) rateLimit(f generatetest.Injection) *problem {
	p := newProblem(http.StatusTooManyRequests, "Rate limit exceeded: free-models-per-min")
	switch {
	case f.RetryAfter <= 0:
	case f.Variant%2 == 1:
		reset := s.config.Now().Add(f.RetryAfter).UnixMilli()
		p.Error.Message = "Rate limit exceeded: limit_rpm/google/gemini-3-pro-image-preview/a4f5d9d2-9f4e-4d57-8b67-2f5ac3f5a1f0. High demand."
		p.with("headers", map[string]string{"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(reset, 10)})
	default:
		p.header.Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
	}
	return p
}

// moderated refuses in one of the ways that there are.
func (s *Simulator) moderated(w http.ResponseWriter, variant int) {
	switch variant % 4 {
	case 0:
		newProblem(http.StatusForbidden, "Your chosen model requires moderation and your input was flagged").
			with("reasons", []string{"sexual"}).with("flagged_input", "a lighthouse…").with("provider_name", "Simulated").write(w)
	case 1:
		s.say(w, `{"finish_reason":"content_filter","native_finish_reason":"IMAGE_SAFETY","index":0,"message":{"role":"assistant","content":"","images":[]}}`)
	case 2:
		s.say(w, `{"finish_reason":"stop","native_finish_reason":"stop","index":0,"message":{"role":"assistant","content":null,"refusal":"I can't help with that."}}`)
	case 3:
		s.say(w, `{"finish_reason":"stop","native_finish_reason":"stop","index":0,"message":{"role":"assistant","content":"I'm unable to draw a real person in this scene."}}`)
	}
}

// say answers with one choice without a picture.
func (s *Simulator) say(w http.ResponseWriter, choice string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "\n   \n"+`{"id":"gen-0","provider":"Simulated","model":"simulated","choices":[%s],"usage":{"prompt_tokens":9,"completion_tokens":0,"cost":0}}`, choice)
}
