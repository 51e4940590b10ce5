package problem_test

import (
	"errors"
	"fmt"
	"testing"

	"atelier/media"
	"atelier/workflow/problem"
)

// TestProblemsKeepTheirPlaces: problems survive wrapping, and Under prefixes copies of them with a pointer.
func TestProblemsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	err := problem.Join(problem.At("/steps/0", "no module %q", "x"), problem.At("", "no title"))
	if media.CodeOf(err) != media.CodeInvalid || err.Error() != "/steps/0: no module \"x\"\nno title" {
		t.Errorf("%q, %s", err, media.CodeOf(err))
	}
	wrapped := fmt.Errorf("read a.yaml: %w", err)
	if got := problem.Of(wrapped); len(got) != 2 || got[0].Pointer != "/steps/0" {
		t.Errorf("found %v", got)
	}
	below := problem.Under("/a~1b", wrapped)
	if len(below) != 2 || below[0].Pointer != "/a~1b/steps/0" || below[1].Pointer != "/a~1b" {
		t.Errorf("below a pointer: %v", below)
	}
	if problem.Of(wrapped)[0].Pointer != "/steps/0" {
		t.Error("the problems of the error were changed")
	}
}

// TestManyProblemsAreCounted: an error lists at most 100 problems and the number of the others.
func TestManyProblemsAreCounted(t *testing.T) {
	t.Parallel()
	many := make([]problem.Problem, 20_000)
	for i := range many {
		many[i] = problem.At(fmt.Sprintf("/%d", i), "is unknown")
	}
	got := problem.Of(problem.Join(many...))
	if len(got) != 101 || got[99].Pointer != "/99" || got[100].Message != "19900 more problems are not listed: fix these first" || many[100].Pointer != "/100" {
		t.Errorf("%d problems, the last %v, given %v", len(got), got[len(got)-1], many[100])
	}
	if again := problem.Of(problem.Join(problem.Under("/a", problem.Join(got...))...)); len(again) != 101 || again[100].Message != got[100].Message {
		t.Errorf("joined again: %d problems, the last %v", len(again), again[len(again)-1])
	}
}

// TestOtherErrors: Under turns an error without problems into one problem at the pointer; no error is no problem.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	if problem.Join() != nil || problem.Under("/a", nil) != nil || problem.Of(errors.New("x")) != nil || problem.Of(nil) != nil {
		t.Error("there are problems where nothing is wrong")
	}
	if got := problem.Under("/a", errors.New("broken")); len(got) != 1 || got[0].String() != "/a: broken" {
		t.Errorf("%v", got)
	}
}
