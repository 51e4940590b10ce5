// Package problem represents the problems of workflow JSON, each with the JSON pointer of its location. Errors have
// code media.CodeInvalid; over HTTP, errors with pointers have status 422. The package may import only media.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// Problem is one problem at one location.
type Problem struct {
	// Pointer is the JSON pointer (RFC 6901) of the location; empty for the whole document.
	Pointer string `json:"pointer"`
	// Message says what is wrong and how to fix it.
	Message string `json:"message"`
}

// At creates a problem.
func At(pointer, format string, args ...any) Problem {
	return Problem{Pointer: pointer, Message: media.ErrorText(fmt.Sprintf(format, args...))}
}

// String returns the pointer and the message.
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// Error holds all problems of a document.
type Error struct{ Problems []Problem }

// Error returns one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// List collects the problems of a document. The zero value is empty.
type List []Problem

// Fail adds a problem.
func (l *List) Fail(pointer, format string, args ...any) {
	*l = append(*l, At(pointer, format, args...))
}

// Check adds the problems of an error below a pointer, as [Under] returns them, and reports whether there is no error.
func (l *List) Check(pointer string, err error) bool {
	*l = append(*l, Under(pointer, err)...)
	return err == nil
}

// Err returns [Join] of the problems.
func (l List) Err() error { return Join(l...) }

// maxProblems is the maximum number of problems in one error. It keeps responses small.
const maxProblems = 100

// Join returns an error with code media.CodeInvalid for the problems; nil if there are none. If there are more than a
// hundred, the error lists the first hundred and the number of the others.
func Join(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	if besides := len(problems) - maxProblems; besides > 1 { // one more is the line below, of an error that is joined again
		problems = append(slices.Clone(problems[:maxProblems]), At("", "%d more problems are not listed: fix these first", besides))
	}
	return media.Errorf(media.CodeInvalid, "%w", &Error{Problems: problems})
}

// Of returns the problems in an error's chain; nil if there are none.
func Of(err error) []Problem {
	var e *Error
	if errors.As(err, &e) {
		return e.Problems
	}
	return nil
}

// Under returns the problems of an error below a pointer. An error without problems becomes one problem at the pointer
// itself.
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
