package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atelier/media"
)

// Problem is the body of every unsuccessful response (RFC 9457).
type Problem struct { //nolint:errname // the name in RFC 9457
	Status int    `json:"status" doc:"The HTTP status."`
	Title  string `json:"title" doc:"The status in words."`
	Code   string `json:"code" doc:"The kind of error, for programs."`
	Detail string `json:"detail" doc:"The error message, for people."`
	Hint   string `json:"hint,omitempty" doc:"How to fix it."`
	// Retryable reports whether the same request can succeed later.
	Retryable bool     `json:"retryable" doc:"Whether the same request can succeed later."`
	Valid     []string `json:"valid,omitempty" doc:"Accepted values."`
	Errors    []Flaw   `json:"errors,omitempty" doc:"Values that do not match the schema, by location."`

	retryAfter string
}

// Flaw is one mismatch between a request and its schema.
type Flaw struct {
	Pointer string `json:"pointer" doc:"A JSON pointer into the body, or a parameter's location (query/limit)."`
	Detail  string `json:"detail"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (*Problem) ContentType(string) string { return problemType }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{"Cache-Control": {"no-store"}}
	if p.retryAfter != "" {
		h.Set("Retry-After", p.retryAfter)
	}
	return h
}

const problemType = "application/problem+json"

// statusClientGone is the status that proxies log for a client that disconnected. No client receives it.
const statusClientGone = 499

// statuses maps error codes to HTTP statuses.
var statuses = map[media.Code]int{
	media.CodeInvalid: http.StatusBadRequest, media.CodeNotFound: http.StatusNotFound, media.CodeUnknownRef: http.StatusNotFound,
	media.CodeRefCollision: http.StatusConflict, media.CodeTooLarge: http.StatusRequestEntityTooLarge, media.CodeUnsupported: http.StatusUnprocessableEntity,
	media.CodeMissingKey: http.StatusFailedDependency, media.CodeUnauthorized: http.StatusUnauthorized, media.CodeForbidden: http.StatusForbidden,
	media.CodeModerated: http.StatusUnprocessableEntity, media.CodeRateLimited: http.StatusTooManyRequests, media.CodeQuotaExceeded: http.StatusPaymentRequired,
	media.CodeUnavailable: http.StatusServiceUnavailable, media.CodeBadResponse: http.StatusBadGateway, media.CodeCorrupt: http.StatusInternalServerError,
	media.CodeDeadline: http.StatusGatewayTimeout, media.CodeCancelled: statusClientGone, media.CodeContextLength: http.StatusUnprocessableEntity,
	media.CodeDiskFull: http.StatusInsufficientStorage, media.CodeConflict: http.StatusConflict, media.CodeBlockedAddress: http.StatusUnprocessableEntity,
	media.CodeVersion: http.StatusPreconditionFailed, media.CodeStaleData: http.StatusConflict, media.CodeActionsRunning: http.StatusConflict,
	media.CodeOverBudget: http.StatusPaymentRequired, media.CodeInternal: http.StatusInternalServerError,
}

// hints say how to fix errors whose messages do not.
var hints = map[media.Code]string{
	media.CodeMissingKey: "Set the variable on the server and restart it, or choose another model.",
	media.CodeOverBudget: "Raise the budget, or request less.",
	media.CodeDiskFull:   "Free disk space for the server's data folder.",
	media.CodeConflict:   "Reload it, then decide again.",
}

// StatusOf returns the HTTP status of an error code.
func StatusOf(c media.Code) int {
	return cmp.Or(statuses[c], http.StatusInternalServerError)
}

// problemOf converts an error to a problem. It logs internal errors with an id and does not show their text.
func problemOf(ctx context.Context, err error) *Problem {
	if known, ok := errors.AsType[*Problem](err); ok {
		return known
	}
	code := media.CodeOf(err)
	p := newProblem(StatusOf(code), code, media.ErrorText(err.Error()))
	p.Hint, p.Retryable = hints[code], media.Retryable(err)
	if unfit, ok := errors.AsType[*ValidationError](err); ok {
		p.Errors = unfit.Flaws
		if code == media.CodeInvalid {
			p.Status, p.Title = http.StatusUnprocessableEntity, http.StatusText(http.StatusUnprocessableEntity)
		}
	}
	if own, ok := errors.AsType[*media.Error](err); ok {
		p.Valid = own.Valid
		if own.RetryAfter > 0 {
			p.retryAfter = strconv.Itoa(int(own.RetryAfter.Seconds()) + 1)
		}
	}
	if code == media.CodeInternal || code == media.CodeCorrupt {
		var b [6]byte
		_, _ = rand.Read(b[:]) // never fails
		id := hex.EncodeToString(b[:])
		slog.ErrorContext(ctx, "request failed", slog.String("id", id), slog.String("error", p.Detail))
		p.Detail = "Internal server error; the server's log has the details under " + id + "."
	}
	return p
}

func newProblem(status int, code media.Code, detail string) *Problem {
	title := http.StatusText(status)
	if status == statusClientGone {
		title = "Client Closed Request"
	}
	return &Problem{Status: status, Title: title, Code: string(code), Detail: detail}
}

// writeProblem responds with the problem of an error instead of the content that the header describes.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(r.Context(), err)
	for _, k := range []string{"ETag", "Content-Disposition", "Content-Length", "Content-Security-Policy", "X-Accel-Buffering"} {
		w.Header().Del(k)
	}
	for k, v := range p.GetHeaders() {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
}

// codes maps the statuses of errors that the HTTP library reports to error codes.
var codes = map[int]media.Code{
	http.StatusBadRequest: media.CodeInvalid, http.StatusUnprocessableEntity: media.CodeInvalid, http.StatusRequestEntityTooLarge: media.CodeTooLarge,
	http.StatusUnsupportedMediaType: media.CodeUnsupported, http.StatusNotAcceptable: media.CodeUnsupported, http.StatusRequestTimeout: media.CodeDeadline,
}

// asProblem converts the HTTP library's errors to problems. Other values pass unchanged.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := newProblem(m.Status, cmp.Or(codes[m.Status], media.CodeInternal), media.ErrorText(m.Detail))
	if m.Status == http.StatusUnsupportedMediaType {
		p.Hint = "Send JSON with the header Content-Type: application/json."
	}
	for _, e := range m.Errors {
		p.Errors = append(p.Errors, Flaw{Pointer: pointer(e.Location), Detail: media.ErrorText(e.Message)})
	}
	if len(p.Errors) > 0 {
		p.Detail += ": " + strings.TrimPrefix(p.Errors[0].Pointer+" ", " ") + p.Errors[0].Detail
	}
	return p, nil
}

// pointer converts a location such as body.items[3].tags to a JSON pointer.
func pointer(location string) string {
	location = strings.Replace(location, "body[", "body.[", 1) // a body that is a list
	at, rest, _ := strings.Cut(location, ".")
	rest = strings.TrimPrefix(rest, "[")
	rest = strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(rest)
	switch {
	case at != "body":
		return strings.TrimSuffix(at+"/"+rest, "/")
	case rest == "":
		return ""
	}
	return "/" + rest
}

// ValidationError is the error of a value that does not match its schema. Its problem lists each location, and has
// status 422 if the code is media.CodeInvalid.
type ValidationError struct {
	Err   error
	Flaws []Flaw
}

// Error returns the message of the wrapped error.
func (u *ValidationError) Error() string { return u.Err.Error() }

// Unwrap returns the wrapped error.
func (u *ValidationError) Unwrap() error { return u.Err }
