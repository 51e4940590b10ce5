package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"

	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// ErrUnsettled is wrapped by the error of a call that was sent but got no complete response. It is unknown whether the
// call is billed.
var ErrUnsettled = errors.New("sent and not answered")

// MaxMessage is the maximum length, in bytes, of a provider's message that is shown and stored. The longest useful
// message lists several quotas.
const MaxMessage = 1500

// NewClient creates the HTTP client for a chat SDK. A redirect, which an SDK would take for an answer, is an error. If
// a limit prevents reading an answer to its end, the call may have been billed, and the error wraps [ErrUnsettled].
func NewClient(p safehttp.Provider) *http.Client {
	c := safehttp.NewProvider(p)
	c.Transport = settled{c.Transport, p.Name}
	return c
}

// settled rejects redirects and marks errors of calls that may be billed.
type settled struct {
	next http.RoundTripper
	name string
}

// RoundTrip implements http.RoundTripper.
func (t settled) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	switch {
	case err != nil || res.StatusCode >= http.StatusBadRequest:
		return res, err
	case res.StatusCode < http.StatusMultipleChoices:
		res.Body = billed{res.Body}
		return res, nil
	}
	e := media.Errorf(media.CodeBadResponse, "%s answered with a redirect (status %d), which is not followed: check its base URL", t.name, res.StatusCode)
	return nil, errors.Join(e, res.Body.Close())
}

// billed is the body of a successful answer.
type billed struct{ io.ReadCloser }

// Read implements [io.Reader].
func (b billed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if limit, ok := errors.AsType[*media.Error](err); ok {
		e := *limit
		e.Message, e.Retryable, e.Cause = e.Message+"; it may have been billed", false, errors.Join(ErrUnsettled, limit)
		return n, &e
	}
	return n, err
}

// Guarded calls an SDK and converts a panic to an error. Some SDKs panic on a response of an unexpected form.
func Guarded[T any](ask func() (T, error)) (res T, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the response does not have the form that the protocol requires: %v", panicked)
		}
	}()
	return ask()
}

// LostCall is a call without a complete answer.
type LostCall struct {
	Profile Profile
	Err     error
	// Why is Err without secrets. Check says what to check if the model was not reached.
	Why, Check string
	// Sent reports whether the request left this machine. Only a call that was not sent can be repeated without paying
	// twice.
	Sent bool
}

// Unanswered returns the error of a lost call.
func (l LostCall) Unanswered(ctx context.Context) *media.Error {
	billed := ""
	var unsettled error
	if l.Sent {
		billed, unsettled = mayBeBilled, ErrUnsettled
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if l.Sent && errors.Is(l.Err, ended) || errors.Is(ctx.Err(), ended) { // an attempt to connect has its own deadline
			e := media.Errorf(media.CodeOf(ended), "ask %s: the call ended before the response arrived: %s%s", l.Profile, ended, billed)
			e.Cause = errors.Join(ended, unsettled)
			return e
		}
	}
	if !l.Sent {
		return media.Errorf(media.CodeUnavailable, "cannot reach %s (%s): check %s", l.Profile, l.Why, l.Check)
	}
	e := media.Errorf(media.CodeBadResponse, "ask %s: the response is incomplete (%s)%s", l.Profile, l.Why, billed)
	e.Cause = unsettled
	return e
}

// GatewayTimeout marks the error of a call to which a proxy responded because it stopped waiting for the provider. It
// leaves other errors unchanged. Status 524 is that of Cloudflare.
func GatewayTimeout(e *media.Error, status int) {
	if status == http.StatusGatewayTimeout || status == 524 {
		MayBeBilled(e)
	}
}

// MayBeBilled marks the error of a call whose answer is lost or incomplete.
func MayBeBilled(e *media.Error) {
	e.Message, e.Retryable, e.Cause = e.Message+mayBeBilled, false, ErrUnsettled
}

// mayBeBilled ends the message of a call whose answer was lost.
const mayBeBilled = "; it may have been billed, so it is not repeated"

// statusCodes are the error codes of statuses below 500 that are not media.CodeInvalid.
var statusCodes = map[int]media.Code{
	http.StatusUnauthorized: media.CodeUnauthorized, http.StatusPaymentRequired: media.CodeQuotaExceeded, http.StatusForbidden: media.CodeForbidden,
	http.StatusNotFound: media.CodeNotFound, http.StatusRequestTimeout: media.CodeUnavailable, http.StatusRequestEntityTooLarge: media.CodeTooLarge,
	http.StatusTooManyRequests: media.CodeRateLimited,
}

// CodeOfStatus returns the error code of an error without known words, by its HTTP status.
func CodeOfStatus(status int) media.Code {
	switch code, known := statusCodes[status]; {
	case known:
		return code
	case status >= http.StatusInternalServerError:
		return media.CodeUnavailable
	case status >= http.StatusBadRequest:
		return media.CodeInvalid
	}
	return media.CodeBadResponse
}

// Keep adds the pictures that a model made and that were lifted out of its answer.
func (r *Response) Keep(f Profile, lifted []wire.Lifted) {
	for _, l := range lifted {
		if l.Err != nil {
			r.Warnings = append(r.Warnings, "a picture that "+f.Name+" made was not stored: "+media.ErrorText(l.Err.Error()))
			continue
		}
		r.Media = append(r.Media, media.NewOutput(l.Blob, media.Meta{}))
	}
}

// tooLongText matches messages that a prompt does not fit the model: OpenAI (chat and Responses), Anthropic (input and
// answer together), Gemini, Bedrock and Nova, xAI, Mistral, Cohere, DeepSeek, Perplexity, Alibaba, Vercel, Together and
// text-generation-inference, llama.cpp, Ollama, LM Studio, and limits per minute that a single request exceeds.
var tooLongText = regexp.MustCompile(`(?i)` +
	`maximum context length|maximum prompt length|maximum model length|max_model_len|exceeded max context length` +
	`|context (window|length|limit|size)[^.]{0,60}\b(exceed|overflow)|\bexceed[^.]{0,80}context (window|length|limit|size)` +
	`|prompt (is )?too long|input (is )?too long|input length and .?max_tokens.? exceed` +
	`|input token count[^.]{0,80}exceeds|too many tokens: total|input tokens exceed|too_many_prompt_tokens` +
	`|number of input tokens exceeds maximum|range of input length should be` +
	`|inputs. tokens \+ .max_new_tokens. must be|too large for model with \d+ maximum context` +
	`|reduce the length of the (messages|prompt|input)|context the overflows` +
	`|request too large for [^.]{0,120}tokens per min`)

// TooLong reports whether a provider's message means that a prompt is too long for its model.
func TooLong(message string) bool { return tooLongText.MatchString(message) }
