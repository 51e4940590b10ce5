package geminisim

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

// problem is an error answer: google.rpc.Status in its envelope.
type problem struct {
	Error struct {
		Code    int              `json:"code"`
		Message string           `json:"message"`
		Status  string           `json:"status"`
		Details []map[string]any `json:"details,omitempty"`
	} `json:"error"`
}

func newProblem(code int, status, message string, details ...map[string]any) *problem {
	p := &problem{}
	p.Error.Code, p.Error.Status, p.Error.Message, p.Error.Details = code, status, message, details
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(p.Error.Code)
	_ = json.NewEncoder(w).Encode(p)
}

func invalid(message string) *problem {
	return newProblem(http.StatusBadRequest, "INVALID_ARGUMENT", message)
}

func notFound(name string) *problem {
	return newProblem(http.StatusNotFound, "NOT_FOUND", fmt.Sprintf(
		"models/%s is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.", name))
}

// badKey is status 400: this API does not say 401 to a key.
func badKey() *problem {
	return newProblem(http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
		map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
			"metadata": map[string]string{"service": "generativelanguage.googleapis.com"},
		},
		map[string]any{
			"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": "API key not valid. Please pass a valid API key.",
		})
}

// Variants tells how many shapes a fault has here.
func (s *Simulator) Variants(f generatetest.Fault) int {
	if s.Absent(f) != "" {
		return 0
	}
	switch f {
	case generatetest.FaultModerated:
		return len(refusals())
	case generatetest.FaultUnauthorized, generatetest.FaultForbidden, generatetest.FaultQuota,
		generatetest.FaultServerError, generatetest.FaultNotMedia:
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
	case generatetest.FaultPrivateURL, generatetest.FaultExpiredLink, generatetest.FaultHalfLink:
		return "pictures come in the answer, not by link"
	case generatetest.FaultPartialN:
		return "a call gives one picture"
	case generatetest.FaultTaskFailed, generatetest.FaultTaskLost, generatetest.FaultPollFails,
		generatetest.FaultAnswerLost, generatetest.FaultListLost:
		return "calls are answered at once: there are no tasks"
	default:
		return ""
	}
}

// answerFault answers the faults that come before any picture. It reports false if
// the call is to go on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, name string, f generatetest.Injection) bool {
	second := f.Variant%2 == 1
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		p := badKey()
		if second {
			p = newProblem(http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
		}
		p.write(w)
	case generatetest.FaultInvalid:
		newProblem(http.StatusBadRequest, "INVALID_ARGUMENT", "Request contains an invalid argument.").write(w)
	case generatetest.FaultConflict:
		newProblem(http.StatusConflict, "ABORTED", "The operation was aborted.").write(w)
	case generatetest.FaultForbidden:
		p := newProblem(http.StatusForbidden, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key.")
		if second {
			p = newProblem(http.StatusBadRequest, "FAILED_PRECONDITION", "User location is not supported for the API use.")
		}
		p.write(w)
	case generatetest.FaultDeadModel:
		notFound(name).write(w)
	case generatetest.FaultRateLimit:
		tooMany(f).write(w)
	case generatetest.FaultQuota:
		quota(second).write(w)
	case generatetest.FaultServerError:
		p := newProblem(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred. Please retry.")
		if second {
			p = newProblem(http.StatusGatewayTimeout, "DEADLINE_EXCEEDED", "The service was unable to finish processing within the deadline.")
		}
		p.write(w)
	case generatetest.FaultOverloaded:
		newProblem(http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later.").write(w)
	case generatetest.FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = io.WriteString(w, "upstream said: {]")
	case generatetest.FaultDropped:
		panic(http.ErrAbortHandler)
	case generatetest.FaultModerated:
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		all := refusals()
		_, _ = io.WriteString(w, all[f.Variant%len(all)])
	case generatetest.FaultSlow:
		return !simulate.Wait(r, f.Delay)
	default:
		return false
	}
	return true
}

// refusals are the shapes of a success without a picture. All have status 200.
func refusals() []string {
	const usage = `,"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},"modelVersion":"gemini-3-pro-image"}`
	return []string{
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","probability":"HIGH","blocked":true},{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}]}` + usage,
		`{"candidates":[{"finishReason":"IMAGE_SAFETY","index":0}]` + usage,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"I can't make this one."}]},"finishReason":"NO_IMAGE","index":0}]` + usage,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"I'm unable to draw a real person in this scene."}]},"finishReason":"STOP","index":0}]` + usage,
		`{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"IMAGE_PROHIBITED_CONTENT","finishMessage":"Unable to show the generated image.","index":0,"safetyRatings":[{"category":"HARM_CATEGORY_IMAGE_HATE","probability":"HIGH","blocked":true}]}]` + usage,
		`{"candidates":[{"content":{"role":"model"},"finishReason":"NO_IMAGE","index":0}]` + usage,
		`{"promptFeedback":{"blockReason":"MODEL_ARMOR","blockReasonMessage":"Blocked by a Model Armor template of the project."}` + usage,
		`{"candidates":[{"content":{},"finishReason":"IMAGE_OTHER","finishMessage":"The image was not generated. Try rephrasing the prompt.","index":0}]` + usage,
	}
}

// tooMany is 429: the wait is RetryInfo's, there is no Retry-After header. Without a wait it is the
// bare answer of an overloaded project.
func tooMany(f generatetest.Injection) *problem {
	if f.RetryAfter == 0 {
		return newProblem(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
	}
	return exhausted(f.RetryAfter,
		violation{"GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "10"},
		violation{"GenerateContentInputTokensPerModelPerMinute-FreeTier", "generate_content_free_tier_input_token_count", "250000"})
}

// quota is 429 too: the day's limit beside that of the minute, or a limit of zero without billing.
func quota(zero bool) *problem {
	if zero {
		return exhausted(34400*time.Millisecond, violation{"GenerateContentInputTokensPerModelPerMinute-FreeTier", "generate_content_free_tier_input_token_count", "0"})
	}
	return exhausted(36*time.Second,
		violation{"GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "10"},
		violation{"GenerateRequestsPerDayPerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "250"})
}

// violation is a quota that a call goes beyond: its id, its metric and its value.
type violation struct{ id, metric, value string }

// exhausted names quotas and a wait, in the message and in the details.
func exhausted(wait time.Duration, of ...violation) *problem {
	message := "You exceeded your current quota, please check your plan and billing details. For more information on this error, head over to: https://ai.google.dev/gemini-api/docs/rate-limits. "
	var list []map[string]any
	for _, v := range of {
		metric := "generativelanguage.googleapis.com/" + v.metric
		message += "\n* Quota exceeded for metric: " + metric + ", limit: " + v.value + ", model: gemini-3-pro-image"
		list = append(list, map[string]any{
			"quotaMetric": metric, "quotaId": v.id, "quotaValue": v.value,
			"quotaDimensions": map[string]string{"location": "global", "model": "gemini-3-pro-image"},
		})
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

// Idle tells that a deadline there is repeated.
func (s *Simulator) Idle(in generatetest.Injection) bool {
	return in.Fault == generatetest.FaultServerError && in.Variant%2 == 1
}
