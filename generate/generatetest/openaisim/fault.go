package openaisim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// privateURLs are addresses that no client may fetch.
var privateURLs = []string{"http://169.254.169.254/latest/meta-data/picture.png", "http://10.0.0.1/picture.png"}

// problem is an error answer in OpenAI's envelope.
type problem struct {
	status int
	header http.Header
	Error  struct {
		Message    string   `json:"message"`
		Type       string   `json:"type"`
		Param      *string  `json:"param"`
		Code       *string  `json:"code"`
		Moderation *verdict `json:"moderation_details,omitempty"`
	} `json:"error"`
}

type verdict struct {
	Stage      string   `json:"moderation_stage"`
	Categories []string `json:"categories"`
}

func newProblem(status int, kind, code, message string) *problem {
	p := &problem{status: status, header: http.Header{}}
	p.Error.Message, p.Error.Type = message, kind
	if code != "" {
		p.Error.Code = &code
	}
	return p
}

func badRequest(param, code, message string) *problem {
	p := newProblem(http.StatusBadRequest, "invalid_request_error", code, message)
	if param != "" {
		p.Error.Param = &param
	}
	return p
}

func invalidValue(param, value string, want []string) *problem {
	return badRequest(param, "invalid_value",
		fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", value, strings.Join(want, "', '")))
}

func noModel(name string) *problem {
	p := badRequest("model", "invalid_value", fmt.Sprintf("The model '%s' does not exist.", name))
	p.Error.Type = "image_generation_user_error"
	return p
}

func unverified(name string, status int) *problem {
	return newProblem(status, "invalid_request_error", "", fmt.Sprintf(
		"Your organization must be verified to use the model `%s`. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.", name))
}

func (p *problem) write(w http.ResponseWriter) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(p)
}

func (s *Simulator) unauthorized(w http.ResponseWriter) {
	p := newProblem(http.StatusUnauthorized, "invalid_request_error", "invalid_api_key",
		"Incorrect API key provided: sk-wrong*****************key. You can find your API key at https://platform.openai.com/account/api-keys.")
	p.header.Set("Www-Authenticate", `Bearer realm="OpenAI API"`)
	p.write(w)
}

// Variants tells how many shapes a fault has here.
func (s *Simulator) Variants(f generatetest.Fault) int {
	switch {
	case s.Absent(f) != "":
		return 0
	case f == generatetest.FaultModerated:
		return 3 // with details, without, and the word of older models
	}
	switch f {
	case generatetest.FaultForbidden, generatetest.FaultDeadModel, generatetest.FaultRateLimit,
		generatetest.FaultNotMedia, generatetest.FaultPrivateURL:
		return 2
	default:
		return 1
	}
}

// Absent says which faults there are none of.
func (s *Simulator) Absent(f generatetest.Fault) string {
	switch f {
	case generatetest.FaultTaskFailed, generatetest.FaultTaskLost, generatetest.FaultPollFails,
		generatetest.FaultAnswerLost, generatetest.FaultListLost:
		return "calls are answered at once: there are no tasks"
	case generatetest.FaultPreviewLost:
		return "previews come in the answer, not by link"
	case generatetest.FaultExpiredLink, generatetest.FaultHalfLink:
		return "pictures come in the answer, not by link"
	default:
		return ""
	}
}

// answerFault answers the faults that come before any picture. It reports false if
// the call is to go on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, f generatetest.Injection) bool {
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		s.unauthorized(w)
	case generatetest.FaultForbidden:
		unverified("gpt-image-2", []int{http.StatusForbidden, http.StatusBadRequest}[f.Variant%2]).write(w)
	case generatetest.FaultDeadModel:
		p := noModel("gpt-image-1")
		if f.Variant%2 == 1 {
			p = newProblem(http.StatusNotFound, "invalid_request_error", "model_not_found", "The model `gpt-image-1` has been deprecated.")
		}
		p.write(w)
	case generatetest.FaultRateLimit:
		rateLimit(f).write(w)
	case generatetest.FaultQuota:
		newProblem(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota",
			"You exceeded your current quota, please check your plan and billing details.").write(w)
	case generatetest.FaultInvalid:
		badRequest("prompt", "invalid_value", "Invalid 'prompt': the value cannot be used.").write(w)
	case generatetest.FaultConflict:
		newProblem(http.StatusConflict, "invalid_request_error", "conflict", "Another request holds this resource.").write(w)
	case generatetest.FaultServerError:
		newProblem(http.StatusInternalServerError, "server_error", "", "The server had an error while processing your request. Sorry about that!").write(w)
	case generatetest.FaultOverloaded:
		newProblem(http.StatusServiceUnavailable, "server_error", "", "The engine is currently overloaded, please try again later.").write(w)
	case generatetest.FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "upstream said: {]")
	case generatetest.FaultDropped:
		panic(http.ErrAbortHandler)
	case generatetest.FaultModerated:
		moderated(f.Variant, w.Header().Get("X-Request-Id")).write(w)
	case generatetest.FaultSlow:
		return !simulate.Wait(r, f.Delay)
	default:
		return false
	}
	return true
}

// rateLimit is 429. Variant 0 names the wait in retry headers, variant 1 in the
// reset headers alone.
func rateLimit(f generatetest.Injection) *problem {
	p := newProblem(http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached for images per minute. Limit 5/1min.")
	switch {
	case f.RetryAfter <= 0:
	case f.Variant%2 == 1:
		p.header.Set("X-Ratelimit-Limit-Requests", "5")
		p.header.Set("X-Ratelimit-Remaining-Requests", "0")
		p.header.Set("X-Ratelimit-Reset-Requests", f.RetryAfter.String())
		p.header.Set("X-Ratelimit-Remaining-Tokens", "90000")
		p.header.Set("X-Ratelimit-Reset-Tokens", "1h9m7.077s")
	case f.RetryAfter%time.Second == 0:
		p.header.Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	default:
		p.header.Set("Retry-After-Ms", strconv.FormatInt(f.RetryAfter.Milliseconds(), 10))
	}
	return p
}

func moderated(variant int, id string) *problem {
	message := "Your request was rejected by the safety system. If you believe this is an error, contact us at help.openai.com and include the request ID " + id + ". safety_violations=[sexual]."
	switch variant % 3 {
	case 1:
		return newProblem(http.StatusBadRequest, "image_generation_user_error", "moderation_blocked", message)
	case 2:
		return newProblem(http.StatusBadRequest, "invalid_request_error", "content_policy_violation",
			"Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.")
	}
	p := newProblem(http.StatusBadRequest, "image_generation_user_error", "moderation_blocked", message)
	p.Error.Moderation = &verdict{Stage: "output", Categories: []string{"sexual", "violence"}}
	return p
}
