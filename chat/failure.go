package chat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"charm.land/fantasy"

	"atelier/media"
)

// ErrUnsettled is wrapped by the error of a call that was sent and not answered
// whole: nobody knows whether it is billed.
var ErrUnsettled = errors.New("sent and not answered")

// failure turns what the SDK says into our one error vocabulary. The SDK's error
// value itself is dropped: it keeps whole request and response bodies. sent tells
// whether the request left this machine.
func (m *model) failure(ctx context.Context, err error, sent bool) error {
	var own *media.Error
	if errors.As(err, &own) {
		return own
	}
	var pe *fantasy.ProviderError
	if !errors.As(err, &pe) || pe.StatusCode == 0 && !pe.IsContextTooLarge() {
		return m.unanswered(ctx, err, sent)
	}
	e := media.Errorf(codeOf(pe), "ask %s: %s", m.profile, m.explain(pe))
	e.RetryAfter = retryAfter(pe.ResponseHeaders)
	// A chat answer that broke off was billed; only refusals are repeated.
	e.Retryable = e.Code == media.CodeRateLimited || e.Code == media.CodeUnavailable && pe.StatusCode >= 500
	return e
}

// unanswered is the error of a call that no whole answer came to. Only one that
// never left this machine can be repeated without being paid twice.
func (m *model) unanswered(ctx context.Context, err error, sent bool) error {
	billed := ""
	var unsettled error
	if sent {
		billed, unsettled = "; it may have been billed, so it is not repeated", ErrUnsettled
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) || errors.Is(ctx.Err(), ended) {
			e := media.Errorf(media.CodeOf(ended), "ask %s: the call ended before its answer came: %s%s", m.profile, ended, billed)
			e.Cause = errors.Join(ended, unsettled)
			return e
		}
	}
	why := err.Error()
	u, network := errors.AsType[*url.Error](err)
	if network {
		why = u.Err.Error()
	}
	why = m.secrets.Clean(why, MaxMessage)
	switch {
	case !sent && !network:
		return media.Errorf(media.CodeInvalid, "ask %s: %s", m.profile, why)
	case !sent:
		return media.Errorf(media.CodeUnavailable, "cannot reach %s (%s): check the network and %s", m.profile, why, m.provider.BaseVariable)
	}
	e := media.Errorf(media.CodeBadResponse, "ask %s: the answer did not come whole (%s)%s", m.profile, why, billed)
	e.Cause = unsettled
	return e
}

func codeOf(pe *fantasy.ProviderError) media.Code {
	kind := errorCode(pe.ResponseBody)
	switch {
	case tooLong(kind, pe):
		return media.CodeContextLength
	case kind == "insufficient_quota":
		return media.CodeQuotaExceeded
	case strings.Contains(pe.Message, "API key not valid"):
		return media.CodeUnauthorized
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
	case pe.StatusCode >= 500:
		return media.CodeUnavailable
	case pe.StatusCode >= 400:
		return media.CodeInvalid
	}
	return media.CodeBadResponse
}

// errorCode reads error.code, or else error.type, of an OpenAI-style body; the SDK's dump has the HTTP
// head before it.
func errorCode(dump []byte) string {
	i := strings.IndexByte(string(dump), '{')
	if i < 0 {
		return ""
	}
	var body struct {
		Error struct {
			Code any `json:"code"`
			Type any `json:"type"`
		} `json:"error"`
	}
	if json.NewDecoder(strings.NewReader(string(dump[i:]))).Decode(&body) != nil {
		return ""
	}
	if s, _ := body.Error.Code.(string); s != "" {
		return s
	}
	s, _ := body.Error.Type.(string)
	return s
}

// MaxMessage is how much of a provider's message is shown and stored, in bytes.
const MaxMessage = 600

// explain adds what to do to what the provider said.
func (m *model) explain(pe *fantasy.ProviderError) string {
	f, msg := m.profile, m.secrets.Clean(pe.Message, MaxMessage)
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
