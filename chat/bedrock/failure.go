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
	var own *media.Error
	if errors.As(err, &own) {
		return own
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return m.refused(err, api)
	}
	billed := ""
	var unsettled error
	if sent {
		billed, unsettled = "; it may have been billed, so it is not repeated", chat.ErrUnsettled
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) || errors.Is(ctx.Err(), ended) {
			e := media.Errorf(media.CodeOf(ended), "ask %s: the call ended before the response arrived: %s%s", m.profile, ended, billed)
			e.Cause = errors.Join(ended, unsettled)
			return e
		}
	}
	if !sent {
		return media.Errorf(media.CodeUnavailable, "cannot reach %s (%s): check the network, AWS_REGION and BEDROCK_BASE_URL", m.profile, m.secrets.Clean(err.Error(), chat.MaxMessage))
	}
	e := media.Errorf(media.CodeBadResponse, "ask %s: the response is incomplete (%s)%s", m.profile, m.secrets.Clean(err.Error(), chat.MaxMessage), billed)
	e.Cause = unsettled
	return e
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
