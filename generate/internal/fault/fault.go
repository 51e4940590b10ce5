// Package fault creates errors of generations: each has a code and no media in its text. It may import media.
package fault

import (
	"errors"
	"strings"

	"atelier/media"
)

// Of converts any error to one with a code and a text without media.
func Of(err error) *media.Error {
	if e, ok := errors.AsType[*media.Error](err); ok {
		clean := *e
		// The outer text is more specific than the inner one.
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

// Wrap prefixes an error with what was being done.
func Wrap(doing string, err error) error {
	e := Of(err)
	e.Message = doing + ": " + e.Message
	return e
}

// Quote truncates text that is quoted in a message.
func Quote(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
