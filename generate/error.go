package generate

import (
	"errors"

	"atelier/media"
)

// asError gives any error a code and a text without media.
func asError(err error) *media.Error {
	if e, ok := errors.AsType[*media.Error](err); ok {
		clean := *e
		// The outer text says more than the inner one.
		clean.Message = media.ErrorText(err.Error())
		return &clean
	}
	switch code := media.CodeOf(err); code {
	case media.CodeCancelled:
		return media.Errorf(code, "cancelled before it was finished")
	case media.CodeDeadline:
		return media.Errorf(code, "time ran out before it was finished")
	default:
		return media.Errorf(code, "%s", media.ErrorText(err.Error()))
	}
}

// wrap adds what was being done.
func wrap(doing string, err error) error {
	e := asError(err)
	e.Message = doing + ": " + e.Message
	return e
}
