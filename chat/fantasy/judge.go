package fantasy

import (
	"cmp"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"atelier/chat"
	"atelier/media"
)

// asked describes a request as far as it matters for judging a refusal.
type asked struct {
	details []string // the levels of detail at which its pictures are viewed, in order
	tokens  int64    // estimated
}

var (
	creditText = regexp.MustCompile(`(?i)credit balance is too low|insufficient[_ ](account )?(quota|balance|funds|credits?)|exhausted balance|\bout of credits?` +
		`|(depleted|exhausted|used (up )?all|run out of)[^.]{0,60}\bcredits?|billing hard limit|(requires|need) more credits`)
	noTierText = regexp.MustCompile(`\blimit: 0\b`)
	keyText    = regexp.MustCompile(`(?i)(incorrect|invalid|malformed|missing|no) (x-)?(api|authentication|authorization)[- ](key|header|token)|api[- ]?key[^.]{0,20} (not valid|invalid|incorrect|expired)`)
	modelText  = regexp.MustCompile(`(?i)is not a valid model id|model [^.]{0,80} (does not exist|is not found|not found)|is no longer available`)
	// sightText matches the refusal of a picture by a model without vision.
	sightText = regexp.MustCompile(`(?i)does not support (image_url|image|vision|multimodal)|image input is not (enabled|supported)|image content is not supported` +
		`|content must be a string|multimodal_not_enabled|no endpoints found that support image|support(s)? (image|vision) input|not a multimodal model`)
	policyText = regexp.MustCompile(`(?i)content management policy|rejected by (the|our) safety system|flagged as potentially violating|ResponsibleAIPolicyViolation|data_?inspection_?failed`)
	// fullText matches llama.cpp's message for a full context, which it reports as a server error.
	fullText = regexp.MustCompile(`(?i)^context size has been exceeded`)
)

// code returns the error code of a fault. The words take precedence over the status, because providers choose the
// status freely.
func (f fault) code(by asked) media.Code {
	refused := f.status >= 400 && f.status < 500 || f.embedded
	switch {
	case f.is("context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length",
		"model_max_prompt_tokens_exceeded", "too_many_prompt_tokens", "TOO_MANY_TOKENS", "model_context_window_exceeded"),
		fullText.MatchString(f.message), refused && f.status < 500 && chat.TooLong(f.message),
		f.status == http.StatusTooManyRequests && f.promptTokens > 0 && by.tokens > f.promptTokens:
		return media.CodeContextLength
	case len(by.details) > 0 && sightText.MatchString(f.message+" "+strings.Join(f.kinds, " ")):
		return media.CodeUnsupported
	case f.is("insufficient_quota", "billing_error", "quota_exceeded", "billing_hard_limit_reached", "insufficient_balance"), refused && creditText.MatchString(f.message), f.status == http.StatusPaymentRequired:
		return media.CodeQuotaExceeded
	case f.status == http.StatusTooManyRequests && noTierText.MatchString(f.message):
		return media.CodeQuotaExceeded
	case f.is("API_KEY_INVALID", "invalid_api_key", "authentication_error"), refused && keyText.MatchString(f.message):
		return media.CodeUnauthorized
	case f.is("content_filter", "content_policy_violation", "image_content_policy_violation", "moderation_blocked", "ResponsibleAIPolicyViolation",
		"data_inspection_failed", "DataInspectionFailed", "flagged_input", "content_moderation", "prompt_blocked", "invalid_prompt"),
		policyText.MatchString(f.message), f.status == http.StatusForbidden && len(f.reasons) > 0:
		return media.CodeModerated
	case f.is("rate_limit_exceeded", "rate_limit_error", "RateLimitReached"):
		return media.CodeRateLimited
	case f.is("overloaded_error"):
		return media.CodeUnavailable
	case f.is("model_not_found"), refused && modelText.MatchString(f.message):
		return media.CodeNotFound
	}
	code := chat.CodeOfStatus(f.status)
	if (code == media.CodeInvalid || code == media.CodeBadResponse) && f.is("server_error", "api_error", "internal_error", "service_unavailable") {
		return media.CodeUnavailable
	}
	return code
}

// fault returns the error of a fault: the provider's message, with advice. Only a refused call is retryable. An error
// inside an answer with status 200 may be billed and is not retryable, unless it is a rate limit.
func (m *model) fault(f fault, by asked) *media.Error {
	code := f.code(by)
	if code == media.CodeModerated {
		return m.refusal(strings.Join(append(f.kinds[:min(1, len(f.kinds))], f.reasons...), ", "), f.message)
	}
	msg := m.secrets.Clean(f.message, chat.MaxMessage)
	switch {
	case strings.HasPrefix(msg, "<") && strings.Contains(strings.ToLower(msg), "<html"), strings.HasPrefix(strings.ToLower(msg), "<!doctype"):
		msg = "responded with a web page instead of JSON: check the base URL"
	case msg == "" || msg == "null" || msg == "{}":
		msg = "HTTP status " + strconv.Itoa(f.status)
	}
	switch code { //nolint:exhaustive // Other codes need no advice.
	case media.CodeUnauthorized:
		msg += " (check " + cmp.Or(strings.Join(m.provider.Variables, " or "), "the key of "+m.profile.Provider) + ")"
	case media.CodeNotFound:
		msg += " (the provider does not know the model or has shut it down: see `atelier models list --chat`)"
	case media.CodeUnsupported:
		msg += " (it does not accept pictures: choose a chat model with vision, or set supports_vision: false in ATELIER_CHAT_PROFILES)"
	case media.CodeQuotaExceeded:
		msg += " (credit or quota is used up at " + m.profile.Provider + ")"
	}
	e := media.Errorf(code, "ask %s: %s", m.profile, msg)
	e.Retryable = code == media.CodeRateLimited || code == media.CodeUnavailable && f.status >= 500 && !f.embedded
	e.RetryAfter = f.wait
	switch {
	case code == media.CodeRateLimited && f.daily:
		e.Cause = chat.ErrDailyQuota
	case !f.embedded && !f.is("DEADLINE_EXCEEDED"): // Google does not bill that
		chat.GatewayTimeout(e, f.status)
	}
	return e
}

// refusal returns the error of an answer that a model or its safety system refused, in the provider's words.
func (m *model) refusal(kind, words string) *media.Error {
	text := "refused"
	if kind != "" {
		text += " (" + m.secrets.Clean(kind, 200) + ")"
	}
	if words = m.secrets.Clean(words, chat.MaxMessage); words != "" {
		text += ": " + words
	}
	return media.Errorf(media.CodeModerated, "ask %s: %s; change the task or the material", m.profile, text)
}
