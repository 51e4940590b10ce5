package bedrock

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"atelier/chat"
	"atelier/internal/patience"
	"atelier/media"
)

// failure turns what the SDK says into the one error vocabulary. sent reports whether the
// request left this machine.
func (m *model) failure(ctx context.Context, err error, sent bool) error {
	if own, ok := errors.AsType[*media.Error](err); ok {
		return own
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return m.refused(err, api)
	}
	return chat.Unanswered(ctx, m.profile, err, m.secrets.Clean(err.Error(), chat.MaxMessage), "the network, AWS_REGION and BEDROCK_BASE_URL", sent)
}

// refused is the error of an answer that is an error.
func (m *model) refused(err error, api smithy.APIError) error {
	msg := m.secrets.Clean(api.ErrorMessage(), chat.MaxMessage)
	var res *smithyhttp.ResponseError
	status := 0
	if errors.As(err, &res) {
		status = res.HTTPStatusCode()
	}
	e := media.Errorf(codeOf(api.ErrorCode(), status, msg), "ask %s: %s: %s", m.profile, m.secrets.Clean(api.ErrorCode(), 100), msg)
	e.Retryable = e.Code == media.CodeRateLimited || e.Code == media.CodeUnavailable && status >= http.StatusInternalServerError
	if res != nil && res.Response != nil {
		if s, err := strconv.Atoi(res.Response.Header.Get("Retry-After")); err == nil {
			e.RetryAfter = time.Duration(s) * time.Second
		}
	}
	return e
}

func codeOf(kind string, status int, message string) media.Code {
	if status < http.StatusInternalServerError && chat.TooLong(message) {
		return media.CodeContextLength
	}
	switch kind {
	case "ThrottlingException", "TooManyRequestsException":
		if patience.Daily(message) { // it names no time to wait for
			return media.CodeQuotaExceeded
		}
		return media.CodeRateLimited
	case "ModelNotReadyException", "ServiceUnavailableException", "InternalServerException":
		return media.CodeUnavailable
	case "AccessDeniedException":
		return media.CodeForbidden
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "IncompleteSignature", "MissingAuthenticationToken":
		return media.CodeUnauthorized
	case "ServiceQuotaExceededException":
		return media.CodeQuotaExceeded
	case "ResourceNotFoundException":
		return media.CodeNotFound
	case "ValidationException":
		return media.CodeInvalid
	}
	switch {
	case status == http.StatusUnauthorized:
		return media.CodeUnauthorized
	case status == http.StatusForbidden:
		return media.CodeForbidden
	case status == http.StatusRequestEntityTooLarge:
		return media.CodeTooLarge
	case status >= http.StatusInternalServerError:
		return media.CodeUnavailable
	case status >= http.StatusBadRequest:
		return media.CodeInvalid
	}
	return media.CodeBadResponse
}
