package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"charm.land/fantasy"

	"atelier/media"
)

// failure turns what the SDK says into our one error vocabulary. The SDK's error
// value itself is dropped: it keeps whole request and response bodies.
func (m *model) failure(err error) error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			return media.Errorf(media.CodeOf(ended), "ask %s: %w", m.profile, ended)
		}
	}
	var own *media.Error
	if errors.As(err, &own) {
		return own
	}
	var pe *fantasy.ProviderError
	if !errors.As(err, &pe) {
		return media.Errorf(media.CodeUnavailable, "ask %s: %s", m.profile, media.Scrub(err.Error()))
	}
	e := media.Errorf(codeOf(pe), "ask %s: %s", m.profile, media.Scrub(explain(m.profile, pe)))
	e.RetryAfter = retryAfter(pe.ResponseHeaders)
	// A chat answer that broke off was billed; only refusals are repeated.
	e.Retryable = e.Code == media.CodeRateLimited || e.Code == media.CodeUnavailable && pe.StatusCode >= 500
	return e
}

func codeOf(pe *fantasy.ProviderError) media.Code {
	kind := errorCode(pe.ResponseBody)
	switch {
	case pe.IsContextTooLarge() || kind == "context_length_exceeded":
		return media.CodeContextLength
	case kind == "insufficient_quota":
		return media.CodeQuotaExceeded
	case strings.Contains(pe.Message, "API key not valid"):
		return media.CodeUnauthorized
	case errors.Is(pe.Cause, io.ErrUnexpectedEOF):
		return media.CodeBadResponse
	}
	switch pe.StatusCode {
	case http.StatusUnauthorized:
		return media.CodeUnauthorized
	case http.StatusPaymentRequired:
		return media.CodeQuotaExceeded
	case http.StatusForbidden:
		return media.CodeForbidden
	case http.StatusNotFound:
		return media.CodeNotFound
	case http.StatusRequestEntityTooLarge:
		return media.CodeTooLarge
	case http.StatusTooManyRequests:
		return media.CodeRateLimited
	}
	switch {
	case pe.StatusCode >= 500 || pe.StatusCode == 0:
		return media.CodeUnavailable
	case pe.StatusCode >= 400:
		return media.CodeInvalid
	}
	return media.CodeBadResponse
}

// errorCode reads error.code of an OpenAI-style body; the SDK's dump has the HTTP
// head before it.
func errorCode(dump []byte) string {
	i := strings.IndexByte(string(dump), '{')
	if i < 0 {
		return ""
	}
	var body struct {
		Error struct {
			Code any `json:"code"`
		} `json:"error"`
	}
	if json.NewDecoder(strings.NewReader(string(dump[i:]))).Decode(&body) != nil {
		return ""
	}
	s, _ := body.Error.Code.(string)
	return s
}

// explain adds what to do to what the provider said.
func explain(f Profile, pe *fantasy.ProviderError) string {
	msg := strings.TrimSpace(pe.Message)
	if len(msg) > 600 {
		msg = strings.ToValidUTF8(msg[:600], "") + "…"
	}
	if strings.HasPrefix(msg, "<") {
		msg = "answered a web page instead of JSON: check the base URL"
	}
	switch pe.StatusCode {
	case http.StatusUnauthorized:
		return msg + " (check the key of " + f.Provider + ")"
	case http.StatusNotFound:
		return msg + " (the model is unknown or switched off there: see `atelier models list --chat`)"
	}
	if msg == "" {
		return "HTTP status " + strconv.Itoa(pe.StatusCode)
	}
	return msg
}

func retryAfter(h map[string]string) time.Duration {
	for k, v := range h {
		switch strings.ToLower(k) {
		case "retry-after-ms":
			if ms, err := strconv.Atoi(v); err == nil {
				return time.Duration(ms) * time.Millisecond
			}
		case "retry-after":
			if s, err := strconv.ParseFloat(v, 64); err == nil {
				return time.Duration(s * float64(time.Second))
			}
		}
	}
	return 0
}
