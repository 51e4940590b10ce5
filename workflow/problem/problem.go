// Package problem holds what is wrong with workflow JSON, each finding with the JSON pointer of
// its place. Errors have code media.CodeInvalid; HTTP shows those with pointers as 422. It may
// import media alone.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// Problem is one thing that is wrong at one place.
type Problem struct {
	// Pointer is the JSON pointer (RFC 6901) of the place; empty for the whole document.
	Pointer string `json:"pointer"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// At makes a problem.
func At(pointer, format string, args ...any) Problem {
	return Problem{Pointer: pointer, Message: media.ErrorText(fmt.Sprintf(format, args...))}
}

// String returns pointer: message.
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// Error is everything that is wrong with a document.
type Error struct{ Problems []Problem }

// Error returns one problem a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// most is how many problems one error tells: an answer stays smaller than what was wrong.
const most = 100

// Join makes the error of some problems, with code media.CodeInvalid; none is nil. Of more than a
// hundred it has the first hundred and says how many there are besides.
func Join(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	if besides := len(problems) - most; besides > 1 { // one is the line below, of an error that is joined again
		problems = append(slices.Clone(problems[:most]), At("", "%d more problems are not listed: fix these first", besides))
	}
	return media.Errorf(media.CodeInvalid, "%w", &Error{Problems: problems})
}

// Of finds the problems of an error's chain; nil if it has none.
func Of(err error) []Problem {
	var e *Error
	if errors.As(err, &e) {
		return e.Problems
	}
	return nil
}

// Under returns the problems of an error below a pointer. An error without problems is one of the
// pointer itself.
func Under(pointer string, err error) []Problem {
	if err == nil {
		return nil
	}
	found := Of(err)
	if found == nil {
		return []Problem{At(pointer, "%s", err)}
	}
	out := make([]Problem, len(found))
	for i, p := range found {
		out[i] = Problem{Pointer: pointer + p.Pointer, Message: p.Message}
	}
	return out
}
