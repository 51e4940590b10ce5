package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Code is the kind of an error, for programs; its string is the wire form in JSON and in the ledger.
type Code string

// The codes. Anything without a code is [CodeInternal].
const (
	CodeInternal       Code = "internal"            // a defect or an unforeseen failure of this program
	CodeInvalid        Code = "invalid"             // bad input; the message says what to change
	CodeNotFound       Code = "not_found"           // the named thing does not exist here
	CodeUnknownRef     Code = "unknown_ref"         // a ref that does not exist in this run tree; the message lists valid ones
	CodeRefCollision   Code = "ref_collision"       // two digests of one run tree share a ref
	CodeTooLarge       Code = "too_large"           // over a limit; the message names the limit and its setting
	CodeUnsupported    Code = "unsupported"         // the model, format or setting cannot do it
	CodeMissingKey     Code = "missing_key"         // no credential; the message names the variable
	CodeUnauthorized   Code = "unauthorized"        // the provider refused the credential
	CodeForbidden      Code = "forbidden"           // the provider refuses this account or model, or a scope is missing
	CodeModerated      Code = "moderated"           // refused by a safety system
	CodeRateLimited    Code = "rate_limited"        // try later
	CodeQuotaExceeded  Code = "quota_exceeded"      // no credit left; a retry does not help
	CodeUnavailable    Code = "unavailable"         // the other side failed; a retry may help
	CodeBadResponse    Code = "bad_response"        // the other side sent an unexpected answer
	CodeCorrupt        Code = "corrupt"             // bytes do not hash to their digest, or end early
	CodeDeadline       Code = "deadline_exceeded"   // the deadline has expired
	CodeCancelled      Code = "cancelled"           // cancelled by the caller
	CodeContextLength  Code = "context_length"      // the prompt does not fit the chat model
	CodeDiskFull       Code = "disk_full"           // no space left for the data
	CodeConflict       Code = "conflict"            // changed by somebody else in the meantime
	CodeBlockedAddress Code = "blocked_address"     // an outbound fetch to a private or forbidden address
	CodeVersion        Code = "version"             // an edit of an older version that a newer one contradicts
	CodeStaleData      Code = "stale_data"          // what a client sends differs from what is stored
	CodeActionsRunning Code = "sub_actions_running" // sub-actions of the interaction have not ended
	CodeOverBudget     Code = "over_budget"         // a budget of turns, tokens or money is insufficient
)

// Error is a code, a message for people with a remedy, and the cause. The message never contains
// media bytes, base64 or a credential.
type Error struct {
	Code    Code
	Message string
	// Retryable means that the same call can succeed later.
	Retryable bool
	// RetryAfter is the minimum wait that the other side requested; 0 for none.
	RetryAfter time.Duration
	// Valid lists the values that would have been accepted (refs, names), if known.
	Valid []string
	// Cause is the underlying error; it is not part of Error().
	Cause error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the context error whose code [CodeOf] gives: [context.Canceled] for [CodeCancelled],
// [context.DeadlineExceeded] for [CodeDeadline].
func (e *Error) Is(target error) bool {
	return target == context.Canceled && e.Code == CodeCancelled || target == context.DeadlineExceeded && e.Code == CodeDeadline
}

// Errorf creates an [Error]. A %w verb in the format sets its cause. The result is retryable if its
// code is [CodeRateLimited] or [CodeUnavailable]; a cause with the same code passes on its
// Retryable, RetryAfter and Valid. The message is complete: use [ErrorText] to show or store it.
func Errorf(code Code, format string, args ...any) *Error {
	w := fmt.Errorf(format, args...)
	e := &Error{
		Code: code, Message: w.Error(), Cause: errors.Unwrap(w),
		Retryable: code == CodeRateLimited || code == CodeUnavailable,
	}
	if _, several := w.(interface{ Unwrap() []error }); several {
		e.Cause = w
	}
	if under, ok := errors.AsType[*Error](e.Cause); ok && under.Code == code {
		e.Retryable, e.RetryAfter, e.Valid = under.Retryable, under.RetryAfter, under.Valid
	}
	return e
}

// CatchPanic makes the panic of a function that defers it the function's error, which says that who has a bug. Code of
// other people runs in goroutines here, where its panic would end the process.
func CatchPanic(err *error, who string) {
	if p := recover(); p != nil {
		*err = Defect(who, p)
	}
}

// Defect returns the error for a panic, in one line, and logs it with the stack. It must be called by the deferred
// function that recovered. The error never contains raw bytes.
func Defect(who string, panicked any) *Error {
	var text string
	switch v := panicked.(type) {
	case error:
		text = fmt.Sprint(v) // which recovers from a panic of Error
	case string:
		text = v
	}
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		text = fmt.Sprintf("panic of type %T", panicked)
	}
	if len(text) > maxDefect {
		text = strings.ToValidUTF8(text[:maxDefect], "") + "…"
	}
	e := Errorf(CodeInternal, "%s failed because of a bug: %s", who, text)
	slog.Error("panic", slog.String("error", ErrorText(e.Message)), slog.String("stack", string(debug.Stack())))
	return e
}

// maxDefect is the maximum length of a panic's text, in bytes.
const maxDefect = 200

// CodeOf returns the code in an error's chain. Context errors have codes of their own; nil has the
// empty code; all other errors are [CodeInternal].
func CodeOf(err error) Code {
	e, coded := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return ""
	case coded:
		return e.Code
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return CodeDeadline
	}
	return CodeInternal
}

// Retryable reports whether the same call may succeed later.
func Retryable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Retryable
}
